//! From a call to what it would touch: canonical names, canonical keys, effects.
