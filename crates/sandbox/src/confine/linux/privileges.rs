//! Giving up every right, for good.

use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySet as Set, CapabilitySets,
    clear_ambient_capability_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};

use super::sys;
use super::wire::{At, Failed};

/// Empties all capability sets, the bounding set too, and forbids gaining any by starting a
/// program.
pub(super) fn drop_all() -> Result<(), Failed> {
    set_no_new_privs(true).at("no new privileges")?;
    if rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(Set::SETPCAP)) {
        sys::empty_bounding_set().at("the bounding set")?;
        set_capabilities_secure_bits(
            CapabilitiesSecureBits::NO_ROOT
                | CapabilitiesSecureBits::NO_ROOT_LOCKED
                | CapabilitiesSecureBits::NO_SETUID_FIXUP
                | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED,
        )
        .at("the secure bits")?;
    }
    clear_ambient_capability_set().at("the ambient set")?;
    let none = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )
    .at("the capability sets")
}
