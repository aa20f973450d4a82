-- The programs look whether the schema is that of their release before they work with it (docs/operations.md 10).
GRANT SELECT ON schema_migrations TO minutebook_programs;
