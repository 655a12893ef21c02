//! What runs the model: the trait, the worker, the process around it.
