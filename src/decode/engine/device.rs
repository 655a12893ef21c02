//! What suits a device. Knows no llama.cpp.

use super::filled::BLOCK;
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
    /// How many slots it should have when each takes so many bytes of KV cache; at least one, and whole blocks where
    /// batches are filled up to them.
    pub fn slots(self, slot_bytes: u64, invariant: Switch) -> u32 {
        // A machine's memory holds the model and other programs, too.
        let (most, memory) =
            if self.is_gpu { (ON_A_GPU, self.memory / 2) } else { (ON_A_PROCESSOR, self.memory / 4) };
        let slots = (memory / slot_bytes.max(1)).clamp(1, most) as u32;
        let block = self.block(invariant, slots);
        if slots > block { slots / block * block } else { slots }
    }

    /// Whether attention is to be computed piece by piece; `Auto` leaves that to llama.cpp, which on a GPU knows best. On
    /// a processor its kernel for texts that go on by one token keeps sums in 16 bits, so that a text comes out
    /// differently in another batch, and is no faster than the plain one.
    #[must_use]
    pub fn flash_attention(self, switch: Switch) -> Switch {
        switch.only_if(self.is_gpu)
    }

    /// How many tokens batches are filled up to a multiple of, so that a text comes out the same in any company; 1: they
    /// are not. `Auto` fills on a processor, where there are slots enough for a block: one text alone would take it five
    /// times as long (a Qwen of 0.5B, two cores: 24 ms for one token, 133 for eight).
    pub fn block(self, invariant: Switch, slots: u32) -> u32 {
        let suits = !self.is_gpu && slots >= BLOCK;
        if invariant.only_if(suits) == Switch::Off { 1 } else { BLOCK }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_fill_the_device_and_leave_room() {
        use Switch::{Auto, Off, On};
        const MIB: u64 = 1 << 20;
        const GIB: u64 = 1 << 30;
        // A GPU, its memory, bytes of a slot, whether texts are to be the same in any company, slots, tokens in a block.
        // 90 MiB: SmolLM2 135M at 4,096 tokens; 512 MiB: Llama 3 8B.
        let table = [
            (false, 24 * GIB, 90 * MIB, Auto, 16, BLOCK),
            (false, 24 * GIB, 90 * MIB, Off, 16, 1),
            (false, 24 * GIB, 512 * MIB, Off, 12, 1),
            (false, 24 * GIB, 512 * MIB, Auto, 8, BLOCK),
            (false, 4 * GIB, 512 * MIB, Auto, 2, 1),
            (false, 4 * GIB, 512 * MIB, On, 2, BLOCK),
            (false, GIB, 512 * MIB, Auto, 1, 1),
            (true, 80 * GIB, 90 * MIB, Auto, 64, 1),
            (true, 18 * GIB, 512 * MIB, Auto, 18, 1),
            (true, 18 * GIB, 512 * MIB, On, 16, BLOCK),
            (true, 0, 512 * MIB, Auto, 1, 1),
        ];
        for (is_gpu, memory, slot_bytes, invariant, slots, block) in table {
            let device = Device { is_gpu, memory };
            let found = device.slots(slot_bytes, invariant);
            let place = format!("{is_gpu} {memory} {slot_bytes} {invariant:?}");
            assert_eq!((found, device.block(invariant, found)), (slots, block), "{place}");
        }
    }
}
