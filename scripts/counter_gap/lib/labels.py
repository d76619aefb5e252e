"""How tables and figures of the Counter-GAP wing call scorings and data sets."""

SCORING = {"released": "released flags", "clusters": "spans", "clusters_faithful": "spans, faithful"}
DATA = {"gap_test": "GAP test", "gap_validation": "GAP validation", "gap_development": "GAP development"}
