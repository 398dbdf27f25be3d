-- The sessions of browsers that signed in by a key end when its number grows (server/auth/cookie.h).
ALTER TABLE api_key ADD COLUMN sessions INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 30;
