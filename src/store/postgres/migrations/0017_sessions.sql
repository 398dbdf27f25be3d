-- The sessions of browsers that signed in by a key end when its number grows (server/auth/cookie.h).
ALTER TABLE belfry.api_key ADD COLUMN sessions bigint NOT NULL DEFAULT 0;
