"""The Compare tab: one text or pair, backbones x poolings side by side."""
