//! What suits a device. Knows no llama.cpp.

use super::switch::Switch;

/// With more texts than this a batch takes a processor as much longer as it has more tokens: `SmolLM2` on two cores made
/// 125, 137 and 137 tokens a second of 8, 16 and 32 texts.
const ON_A_PROCESSOR: u64 = 16;

/// A GPU reads all weights for each batch, whatever its size.
const ON_A_GPU: u64 = 64;

/// What a model runs on.
#[derive(Debug, Clone, Copy)]
pub struct Device {
    /// Whether that is a GPU.
    pub is_gpu: bool,
    /// Bytes of memory: of a machine all of it, of a GPU what is free.
    pub memory: u64,
}

impl Device {
    /// How many slots it should have when each takes so many bytes of KV cache; at least one.
    pub fn slots(self, slot_bytes: u64) -> u32 {
        // A machine's memory holds the model and other programs, too.
        let (most, memory) =
            if self.is_gpu { (ON_A_GPU, self.memory / 2) } else { (ON_A_PROCESSOR, self.memory / 4) };
        (memory / slot_bytes.max(1)).clamp(1, most) as u32
    }

    /// Whether attention is to be computed piece by piece; `Auto` leaves that to llama.cpp, which on a GPU knows best. On
    /// a processor its kernel for texts that go on by one token keeps sums in 16 bits, so that a text comes out
    /// differently in another batch, and is no faster than the plain one.
    #[must_use]
    pub fn flash_attention(self, switch: Switch) -> Switch {
        switch.only_if(self.is_gpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_fill_the_device_and_leave_room() {
        const MIB: u64 = 1 << 20;
        const GIB: u64 = 1 << 30;
        // A GPU, its memory, bytes of a slot, slots. 90 MiB: SmolLM2 135M at 4,096 tokens; 512 MiB: Llama 3 8B.
        let table = [
            (false, 24 * GIB, 90 * MIB, 16),
            (false, 24 * GIB, 512 * MIB, 12),
            (false, 4 * GIB, 512 * MIB, 2),
            (false, GIB, 512 * MIB, 1),
            (true, 80 * GIB, 90 * MIB, 64),
            (true, 18 * GIB, 512 * MIB, 18),
            (true, 0, 512 * MIB, 1),
        ];
        for (is_gpu, memory, slot_bytes, slots) in table {
            assert_eq!(Device { is_gpu, memory }.slots(slot_bytes), slots, "{is_gpu} {memory} {slot_bytes}");
        }
    }
}
