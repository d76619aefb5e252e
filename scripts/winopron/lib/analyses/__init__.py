"""From predictions to the tidy tables behind figures and tables, one module for each analysis."""
