//! One attempt in flight: logits in, a token or a stop out. Pure.
