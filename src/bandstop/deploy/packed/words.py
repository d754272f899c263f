"""What most descriptions in a bytes file have in common, so that it need not be stored: keys, body parts, one hand's bones.

Part of the format: a changed word makes older files unreadable, so a new text needs a new mark at the file's start.
"""

from __future__ import annotations

__all__ = ["WORDS"]

WORDS = (
    b'"kind":"lstm","hidden":100,"layers":1,"channels":16,"heads":8,"filters":32,"dense":'
    b"|left |right |hip|knee|ankle|foot|shoulder|elbow|hand|spine|chest|neck|head|nose|eye|ear|pelvis"
    b"|walk|run|sit|stand|jump|wave|push|pull|kick|throw|catch|turn|point|grab|swipe|tap|open_|close_|put_|take_|pour_|use_"
    b'{"n":{},"c":"{"n":{"combine":"sum"},"c":"","j":"'
    b"wrist|thumb mcp|index mcp|middle mcp|ring mcp|little mcp|thumb pip|thumb dip|thumb tip|index pip|index dip|index tip"
    b"|middle pip|middle dip|middle tip|ring pip|ring dip|ring tip|little pip|little dip|little tip"
    b'","u":"as in the training data","r":0,"m":32,"e":[0,1,0,2,0,3,0,4,0,5,1,6,2,9,3,12,4,15,5,18,6,7,7,8,9,10,10,11,12,13,'
    b'13,14,15,16,16,17,18,19,19,20],"s":[1.'
)
