"""Budgets, losses, mechanisms, and the gate that binds them."""
