/** What Minutebook says of a request that it refuses. */
export type RefusalFacts = {
  readonly status: number;
  /** A stable code, such as `validation_error`. */
  readonly code: string;
  readonly message: string;
  /** What is wrong, by member of the request. */
  readonly details: Readonly<Record<string, unknown>>;
  /** For questions to whoever runs the server. */
  readonly requestId: string | null;
};

/** A refusal by Minutebook, with what to do about it. */
export class MinutebookError extends Error {
  override readonly name: string = 'MinutebookError';
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly requestId: string | null;

  constructor({ status, code, message, details, requestId }: RefusalFacts) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
  }
}
