"""The same bits at the speed of the machine: kernels compiled here, kept, and called."""
