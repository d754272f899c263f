"""Pictures and pages made from run folders, never from live objects."""
