"""What the package does on a GPU: one command that needs nothing but this folder's checkout."""
