"""What parts of a config are made of: sections, quantities, dates."""
