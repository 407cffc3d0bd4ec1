"""How the admin writes dates and moments: as the pages do, with the time zone, which there is UTC."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j M Y, H:i T"
