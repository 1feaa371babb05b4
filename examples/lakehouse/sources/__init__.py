"""Where the data comes from: a shop's database, a log of clicks, files of partners, an API of exchange rates."""
