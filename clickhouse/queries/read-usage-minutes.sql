-- Purpose: what whole UTC minutes hold of meters that share a stretch of time cut into slots; one branch of the one statement that
--          answers all queries of a batch (billing-api/usage/store/usage-statement.ts).
-- Grain:   one row per generation of a meter (one for all of a branch about one meter), per customer key where the branch is
--          about several customers, and what the query splits by. Its columns
--          have a place for every slot: a month of minutes as 43,200 rows took more than twice as long to make, and ten times as
--          long to read.
-- Params:  bound where `$…$` stands: $environment$ and $customers$ and $meters$ choose rows by the primary key; $minutes$ is the
--          stretch; $slot$ the slot of a minute in milliseconds; $keys$ customer, generation, source and group where rows are told apart by
--          them (constants as keys would cost a third more), and $groupBy$ the same as a clause; $values$ the merged values that
--          the type needs, and $columns$ the columns of the answer (answer-columns.ts), of which those that another branch needs
--          are empty and read no column of the table; $rowsMax$ more slots than an answer may hold.
-- Index:   usage_minute_v1 by tenant, environment, meter, customer, generation, minute: no join, no function around a key.
SELECT
  $columns$
FROM
(
  SELECT $keys$$slot$ AS slot_ms$values$
  FROM usage_minute_v1 AS u
  WHERE $environment$ AND $customers$ AND $meters$ AND $minutes$
  GROUP BY $keys$slot_ms
  ORDER BY slot_ms
  LIMIT $rowsMax$
) AS u
$groupBy$
