-- Sessions of the console, and the one-time codes that open one (docs/http.md 1.2). Only the SHA-256 of a secret is kept. Apart from the
-- functions in sql/functions nobody reads or writes these rows.
CREATE TABLE console_sessions (
  secret_hash bytea PRIMARY KEY CHECK (octet_length(secret_hash) = 32),
  tenant_id text NOT NULL,
  user_id text NOT NULL,
  -- A code is exchanged once for a session, and is no session itself.
  is_code boolean NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL CHECK (expires_at > created_at),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
);
CREATE INDEX console_sessions_expiry ON console_sessions (expires_at);
SELECT force_row_security('console_sessions');
