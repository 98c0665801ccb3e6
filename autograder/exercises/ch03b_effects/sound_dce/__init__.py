"""The exercise `sound_dce`."""
