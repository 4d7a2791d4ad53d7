"""The private side: sources, public descriptions, bounding and exact counting. Only sealed statistics leave it."""
