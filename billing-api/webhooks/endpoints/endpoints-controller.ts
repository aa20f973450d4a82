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
  webhookDeliveryToDto,
  type WebhookDeliveryDto,
  type WebhookDeliveryListDto,
} from '../../declarations/webhooks/webhook-delivery.resource.js';
import {
  webhookEndpointToDto,
  type ChangeWebhookEndpointBody,
  type CreatedWebhookEndpointDto,
  type CreateWebhookEndpointBody,
  type RotatedSecretDto,
  type WebhookEndpointDto,
  type WebhookEndpointListDto,
} from '../../declarations/webhooks/webhook-endpoint.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
import type { MessageDto } from '../../records/record-dto.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import { pageToDto } from '../../records/search-records.js';
import {
  changeEndpoint,
  createEndpoint,
  listDeliveries,
  listEndpoints,
  readDelivery,
  readEndpoint,
  removeEndpoint,
  resendDelivery,
  retryEvent,
  rotateSecret,
  type EndpointDependencies,
} from './endpoint-operations.js';

/** Which deliveries are listed. */
export interface WebhookDeliveriesQuery extends Omit<ListQuery, 'status'> {
  /** @maxLength 255 */
  endpoint_id?: string;
  /** @maxLength 255 */
  event_id?: string;
  status?: 'pending' | 'delivered' | 'failed' | 'skipped';
}

/** @example {"system_event_id": "sysevt_01KAHZ3M4N5P6Q7R8S9T0V1W2X"} */
export interface RetryWebhookBody {
  /** @minLength 1 @maxLength 255 */
  system_event_id: string;
}

/** What is sent once more. */
export interface RetriedWebhookDto {
  success: boolean;
  message: string;
  system_event_id: string;
}

@Route('v1/webhooks')
@Tags('Webhooks')
export class WebhookEndpointsController extends Controller {
  constructor(private readonly dependencies: EndpointDependencies) {
    super();
  }

  /**
   * From now on it gets what happens. Its secret, which signs everything that is sent to it, is
   * answered only here.
   * @summary Create a webhook endpoint
   */
  @Post('endpoints')
  @SuccessResponse(201, 'Created')
  @Extension('x-operation', { entity: 'webhook', access: 'write', versioned: true })
  public async createWebhookEndpoint(
    @Request() request: HttpRequest,
    @Body() body: CreateWebhookEndpointBody,
  ): Promise<CreatedWebhookEndpointDto> {
    const created = await createEndpoint(this.dependencies, occasionOf(request), body);
    const { row, secret } = accepted(created);
    this.setStatus(201);
    tagVersion(this, row.version);
    return { ...webhookEndpointToDto(row), secret };
  }

  /** @summary List webhook endpoints */
  @Get('endpoints')
  @Extension('x-operation', { entity: 'webhook', access: 'read' })
  public async listWebhookEndpoints(
    @Request() request: HttpRequest,
    @Queries() query: ListQuery,
  ): Promise<WebhookEndpointListDto> {
    const list = listRequestFrom(query);
    const page = accepted(await listEndpoints(this.dependencies, occasionOf(request), list));
    return pageToDto(page, webhookEndpointToDto);
  }

  /** @summary Read a webhook endpoint */
  @Get('endpoints/{id}')
  @Extension('x-operation', { entity: 'webhook', access: 'read', versioned: true })
  public async readWebhookEndpoint(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<WebhookEndpointDto> {
    const row = accepted(await readEndpoint(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, row.version);
    return webhookEndpointToDto(row);
  }

  /** @summary Change a webhook endpoint */
  @Put('endpoints/{id}')
  @Extension('x-operation', { entity: 'webhook', access: 'write', versioned: true })
  public async changeWebhookEndpoint(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeWebhookEndpointBody,
  ): Promise<WebhookEndpointDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const changed = await changeEndpoint(this.dependencies, occasionOf(request), change);
    const row = accepted(changed);
    tagVersion(this, row.version);
    return webhookEndpointToDto(row);
  }

  /** @summary Remove a webhook endpoint */
  @Delete('endpoints/{id}')
  @Extension('x-operation', { entity: 'webhook', access: 'write' })
  public async removeWebhookEndpoint(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await removeEndpoint(this.dependencies, occasionOf(request), id));
    return { message: `webhook endpoint ${id} is removed` };
  }

  /**
   * For 24 hours the secret before signs too, so that the receiver can change in between.
   * @summary Rotate the secret of a webhook endpoint
   */
  @Post('endpoints/{id}/rotate_secret')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'webhook', access: 'write' })
  public async rotateWebhookSecret(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<RotatedSecretDto> {
    const secret = await rotateSecret(this.dependencies, occasionOf(request), id);
    return { secret: accepted(secret) };
  }

  /** @summary List webhook deliveries */
  @Get('deliveries')
  @Extension('x-operation', { entity: 'webhook', access: 'read' })
  public async listWebhookDeliveries(
    @Request() request: HttpRequest,
    @Queries() query: WebhookDeliveriesQuery,
  ): Promise<WebhookDeliveryListDto> {
    const { endpoint_id, event_id, status, ...list } = query;
    const page = await listDeliveries(this.dependencies, occasionOf(request), {
      request: listRequestFrom(list),
      endpointId: endpoint_id,
      eventId: event_id,
      status,
    });
    return pageToDto(accepted(page), webhookDeliveryToDto);
  }

  /** @summary Read a webhook delivery */
  @Get('deliveries/{id}')
  @Extension('x-operation', { entity: 'webhook', access: 'read' })
  public async readWebhookDelivery(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<WebhookDeliveryDto> {
    const row = accepted(await readDelivery(this.dependencies, occasionOf(request), id));
    return webhookDeliveryToDto(row);
  }

  /**
   * The same bytes with the same id, signed anew.
   * @summary Resend a webhook delivery
   */
  @Post('deliveries/{id}/resend')
  @SuccessResponse(202, 'Accepted')
  @Extension('x-operation', { entity: 'webhook', access: 'write' })
  public async resendWebhookDelivery(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<WebhookDeliveryDto> {
    const row = accepted(await resendDelivery(this.dependencies, occasionOf(request), id));
    this.setStatus(202);
    return webhookDeliveryToDto(row);
  }

  /**
   * To every enabled endpoint that was to get it.
   * @summary Resend a system event
   */
  @Post('retry')
  @SuccessResponse(202, 'Accepted')
  @Extension('x-operation', { entity: 'webhook', access: 'write', notFound: true })
  public async retryWebhook(
    @Request() request: HttpRequest,
    @Body() { system_event_id }: RetryWebhookBody,
  ): Promise<RetriedWebhookDto> {
    const count = accepted(
      await retryEvent(this.dependencies, occasionOf(request), system_event_id),
    );
    this.setStatus(202);
    const message = count === 0 ? 'no enabled endpoint was to get it' : `sent again to ${count}`;
    return { success: count > 0, message, system_event_id };
  }
}
