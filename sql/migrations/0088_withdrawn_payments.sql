-- What banks have taken back of a payment (docs/domain.md 17.6): the gateway does not count it as refunded, so that both add up. It is
-- part of refunded_amount. Programs of the previous release may run: what they note stays 0 here, as it is for what was noted before.
ALTER TABLE payments ADD COLUMN withdrawn_amount numeric NOT NULL DEFAULT 0;
