import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Queries,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import {
  paymentToDto,
  type ChangePaymentBody,
  type CreatePaymentBody,
  type PaymentDto,
  type PaymentListDto,
} from '../../declarations/money/payment.resource.js';
import type { MessageDto } from '../../records/record-dto.js';
import { pageToDto } from '../../records/search-records.js';
import type { WriteDependencies } from '../../records/unit.js';
import { changePayment, processById, removePayment } from './change-payment.js';
import { createPayment } from './create-payment.js';
import { listPayments, readPayment, type ListPaymentsQuery } from './list-payments.js';

@Route('v1/payments')
@Tags('Payments')
export class PaymentsController extends ApiController<WriteDependencies> {
  /**
   * A repeated request answers the payment of the first.
   * @summary Create a payment
   */
  @Post()
  @Extension('x-operation', { entity: 'payment', access: 'write', versioned: true, notFound: true })
  @SuccessResponse(201, 'Created')
  public async createPayment(@Body() body: CreatePaymentBody): Promise<PaymentDto> {
    return paymentToDto(this.tagged(await this.run(createPayment, body)));
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List payments
   */
  @Get()
  @Extension('x-operation', { entity: 'payment', access: 'read' })
  public async listPayments(@Queries() query: ListPaymentsQuery): Promise<PaymentListDto> {
    return pageToDto(await this.run(listPayments, query), paymentToDto);
  }

  /** @summary Read a payment */
  @Get('{id}')
  @Extension('x-operation', { entity: 'payment', access: 'read', versioned: true })
  public async readPayment(@Path() id: string): Promise<PaymentDto> {
    return paymentToDto(this.matched(await this.run(readPayment, id)));
  }

  /**
   * What became of a payment elsewhere, and its own members. What is told late or twice never
   * undoes or repeats what has happened.
   * @summary Change a payment
   */
  @Put('{id}')
  @Extension('x-operation', { entity: 'payment', access: 'write', versioned: true })
  public async changePayment(
    @Path() id: string,
    @Body() body: ChangePaymentBody,
  ): Promise<PaymentDto> {
    return paymentToDto(this.tagged(await this.run(changePayment, this.changeOf(id, body))));
  }

  /**
   * Takes the money now: an OFFLINE payment has arrived, and CREDITS debit a wallet.
   * @summary Process a payment
   */
  @Post('{id}/process')
  @Extension('x-operation', { entity: 'payment', access: 'write', versioned: true })
  public async processPayment(@Path() id: string): Promise<PaymentDto> {
    return paymentToDto(this.tagged(await this.run(processById, this.target(id))));
  }

  /**
   * Only one that is INITIATED or FAILED.
   * @summary Remove a payment
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'payment', access: 'write' })
  public async removePayment(@Path() id: string): Promise<MessageDto> {
    await this.run(removePayment, this.target(id));
    return { message: 'the payment was deleted' };
  }
}
