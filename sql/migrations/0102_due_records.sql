-- What the functions of single kinds of due things answer (sql/functions/due_items.sql): `at` as exact as the columns that it comes from, so that
-- their indexes give its order.
CREATE TYPE due_record AS (id text, at timestamptz(3));
