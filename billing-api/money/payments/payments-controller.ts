import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import {
  paymentToDto,
  type ChangePaymentBody,
  type CreatePaymentBody,
  type PaymentDto,
  type PaymentListDto,
} from '../../declarations/money/payment.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
import type { MessageDto } from '../../records/record-dto.js';
import { pageToDto } from '../../records/search-records.js';
import type { WriteDependencies } from '../../records/unit.js';
import { changePayment, processById, removePayment } from './change-payment.js';
import { createPayment } from './create-payment.js';
import { listPayments, readPayment, type ListPaymentsQuery } from './list-payments.js';

@Route('v1/payments')
@Tags('Payments')
export class PaymentsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * A repeated request answers the payment of the first.
   * @summary Create a payment
   */
  @Post()
  @Extension('x-operation', { entity: 'payment', access: 'write', versioned: true, notFound: true })
  @SuccessResponse(201, 'Created')
  public async createPayment(
    @Request() request: HttpRequest,
    @Body() body: CreatePaymentBody,
  ): Promise<PaymentDto> {
    const payment = accepted(await createPayment(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, payment.version);
    return paymentToDto(payment);
  }

  /**
   * Newest first unless sorted otherwise.
   * @summary List payments
   */
  @Get()
  @Extension('x-operation', { entity: 'payment', access: 'read' })
  public async listPayments(
    @Request() request: HttpRequest,
    @Queries() query: ListPaymentsQuery,
  ): Promise<PaymentListDto> {
    const page = accepted(await listPayments(this.dependencies, occasionOf(request), query));
    return pageToDto(page, paymentToDto);
  }

  /** @summary Read a payment */
  @Get('{id}')
  @Extension('x-operation', { entity: 'payment', access: 'read', versioned: true })
  public async readPayment(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<PaymentDto> {
    const payment = accepted(await readPayment(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, payment.version);
    return paymentToDto(payment);
  }

  /**
   * What became of a payment elsewhere, and its own members. What is told late or twice never
   * undoes or repeats what has happened.
   * @summary Change a payment
   */
  @Put('{id}')
  @Extension('x-operation', { entity: 'payment', access: 'write', versioned: true })
  public async changePayment(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangePaymentBody,
  ): Promise<PaymentDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const payment = accepted(await changePayment(this.dependencies, occasionOf(request), change));
    tagVersion(this, payment.version);
    return paymentToDto(payment);
  }

  /**
   * Takes the money now: an OFFLINE payment has arrived, and CREDITS debit a wallet.
   * @summary Process a payment
   */
  @Post('{id}/process')
  @Extension('x-operation', { entity: 'payment', access: 'write', versioned: true })
  public async processPayment(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<PaymentDto> {
    const target = { id, isExpected: expectedVersions(request) };
    const payment = accepted(await processById(this.dependencies, occasionOf(request), target));
    tagVersion(this, payment.version);
    return paymentToDto(payment);
  }

  /**
   * Only one that is INITIATED or FAILED.
   * @summary Remove a payment
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'payment', access: 'write' })
  public async removePayment(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    const target = { id, isExpected: expectedVersions(request) };
    accepted(await removePayment(this.dependencies, occasionOf(request), target));
    return { message: 'the payment was deleted' };
  }
}
