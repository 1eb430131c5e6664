"""Does the suite notice? Small faults, put into the specification and the runtime one at a time."""
