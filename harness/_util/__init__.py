"""What every part may use: files, terminal, seeds, kernels, arguments, large libraries."""
