import type * as kafkaClient from '@platformatic/kafka';
import { codeOf, messageOf } from '../../runtime/failure.js';

type AdminClient = typeof kafkaClient;

/** Why a broker did not answer, and whether it will answer in the same way again. */
export type ConnectionProblem = { readonly reason: string; readonly isLasting: boolean };

/** SASL_AUTHENTICATION_FAILED and UNSUPPORTED_SASL_MECHANISM of the Kafka protocol. */
const LOGIN_REFUSED = 58;
const MECHANISM_REFUSED = 33;
/** Codes by which OpenSSL and Node say that a certificate is not trusted. */
const UNTRUSTED =
  /^(UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|CERT_|INVALID_CA|INVALID_PURPOSE|ERR_TLS_CERT_)/;
/** Alerts with which a broker refuses our certificate, or to do without one. */
const REFUSED_OURS = /^ERR_SSL_.*ALERT_(CERTIFICATE|BAD_CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)/;

/** The error and those inside it, outermost first: the client wraps an error more than once. */
function errorsInside(error: unknown): readonly unknown[] {
  const found: unknown[] = [];
  let link: unknown = error;
  while (link !== undefined && link !== null && found.length < 8) {
    found.push(link);
    const inner: unknown = link instanceof AggregateError ? link.errors[0] : undefined;
    link = inner ?? (link instanceof Error ? link.cause : undefined);
  }
  return found;
}

function apiCodeOf(error: unknown, { ProtocolError }: AdminClient): unknown {
  return error instanceof ProtocolError ? error['apiCode'] : undefined;
}

/** The reason in the words of the settings, decided from codes and classes of errors. */
export function connectionProblem(error: unknown, client: AdminClient): ConnectionProblem {
  const errors = errorsInside(error);
  const codes = errors.map((one) => codeOf(one) ?? '');
  const apiCodes = errors.map((one) => apiCodeOf(one, client));
  const innermost = messageOf(errors.at(-1));
  const lasting = (reason: string): ConnectionProblem => ({ reason, isLasting: true });
  if (apiCodes.includes(MECHANISM_REFUSED)) {
    return lasting('the broker does not offer the mechanism of KAFKA_SASL_MECHANISM');
  }
  const isLogin = errors.some((one) => one instanceof client.AuthenticationError);
  if (isLogin && apiCodes.includes(LOGIN_REFUSED)) {
    return lasting('the broker refuses KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD');
  }
  if (codes.some((code) => UNTRUSTED.test(code))) {
    return lasting(
      `the certificate of the broker is not accepted (${innermost}): it must be valid today, name the host in KAFKA_BROKERS, and be signed by an authority in KAFKA_SSL_CA_FILE`,
    );
  }
  if (codes.some((code) => REFUSED_OURS.test(code))) {
    return lasting(
      `the broker refuses the TLS connection (${innermost}): it may want a certificate of the client: set KAFKA_SSL_CERTIFICATE_FILE and KAFKA_SSL_KEY_FILE to one that it trusts`,
    );
  }
  const isLate = errors.some((one) => one instanceof client.TimeoutError);
  return { reason: isLate ? 'the broker did not answer in time' : innermost, isLasting: false };
}
