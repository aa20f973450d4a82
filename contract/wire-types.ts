/*
 * Texts with a form of their own, as requests and answers carry them. The tags become the schemas
 * of the OpenAPI document.
 */

/**
 * Decimal number as text, without exponent; at most 18 digits after the point and at most
 * 1000000000000 in magnitude when it is sent.
 * @pattern ^-?\d+(\.\d+)?$
 * @example "0.0025"
 */
export type DecimalText = string;

/**
 * ISO 8601 date-time with an offset or `Z`; answers are in UTC with milliseconds.
 * @format date-time
 * @example "2026-01-31T10:00:00.000Z"
 */
export type DateTime = string;

/**
 * Three-letter currency code; any case is taken, lower case is given back.
 * @minLength 3
 * @maxLength 3
 * @example "usd"
 */
export type Currency = string;
