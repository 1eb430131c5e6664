"""Mutation tests: small faults in the specification and the runtime, one at a time, must fail a test."""
