/** As the job that takes the money of one payment is queued. */
export const TAKE_PAYMENT = {
  name: 'take-payment',
  keyOf: ({ paymentId }: { readonly paymentId: string }): string => paymentId,
  onceWhileWaiting: true,
};
