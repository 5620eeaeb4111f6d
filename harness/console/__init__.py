"""What commands are made of: options, screen, progress, JSON."""
