import { Body, Extension, Path, Post, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { accepted } from '../../edge/http-failure.js';
import { contextOf } from '../../edge/request-context.js';
import type { GatewayNeeds } from './pending-payment.js';
import { takeSignal } from './take-signal.js';

/** The signature of no body. */
const UNSIGNED = '';

/** What a gateway sends: its own, and checked by its signature. */
export interface GatewaySignalBody {
  [member: string]: unknown;
}

/** What was done with a signal. */
export interface SignalAnswerDto {
  /** A repeated one has had its effect; one that is about no payment of ours has none. */
  effect: 'applied' | 'repeated' | 'ignored';
}

@Route('v1/connections')
@Tags('Connections')
export class GatewaySignalsController extends ApiController<GatewayNeeds> {
  /**
   * Where a gateway tells what became of payments. It needs no key: what counts is the signature in
   * the header Stripe-Signature, by the webhook secret of the connection over the bytes of the
   * body. A signal counts once, in whatever order signals come.
   * @summary Take a signal of a gateway
   */
  @Post('{id}/signals')
  @Extension('x-operation', { public: true, signed: true })
  public async takeSignal(
    @Path() id: string,
    @Body() _body: GatewaySignalBody,
  ): Promise<SignalAnswerDto> {
    const { signedBytes, requestId } = contextOf(this.request);
    const headerOf = (name: string): string => this.request.get(name) ?? UNSIGNED;
    const signal = { connectionId: id, body: signedBytes, headerOf, requestId };
    return { effect: accepted(await takeSignal(this.dependencies, signal)) };
  }
}
