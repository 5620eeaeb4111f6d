"""splits"""
