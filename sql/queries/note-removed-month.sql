-- Notes that the raw events of an expired month have been removed. Params: :month (its first day).
UPDATE expired_months SET removed_at = now() WHERE append_month = :month::date AND removed_at IS NULL
