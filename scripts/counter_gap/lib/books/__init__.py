"""From books to new quadruples (Xie et al. 2023, Sections 2.1 and 2.2)."""
