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
import { ApiController } from '../../edge/api-controller.js';
import { tagVersion } from '../../edge/versions.js';
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
export class WebhookEndpointsController extends ApiController<EndpointDependencies> {
  /**
   * From now on it gets what happens. Its secret, which signs everything that is sent to it, is
   * answered only here.
   * @summary Create a webhook endpoint
   */
  @Post('endpoints')
  @SuccessResponse(201, 'Created')
  @Extension('x-operation', { entity: 'webhook', access: 'write', versioned: true })
  public async createWebhookEndpoint(
    @Body() body: CreateWebhookEndpointBody,
  ): Promise<CreatedWebhookEndpointDto> {
    const { row, secret } = await this.run(createEndpoint, body);
    tagVersion(this, row.version);
    return { ...webhookEndpointToDto(row), secret };
  }

  /** @summary List webhook endpoints */
  @Get('endpoints')
  @Extension('x-operation', { entity: 'webhook', access: 'read' })
  public async listWebhookEndpoints(@Queries() query: ListQuery): Promise<WebhookEndpointListDto> {
    return pageToDto(await this.run(listEndpoints, listRequestFrom(query)), webhookEndpointToDto);
  }

  /** @summary Read a webhook endpoint */
  @Get('endpoints/{id}')
  @Extension('x-operation', { entity: 'webhook', access: 'read', versioned: true })
  public async readWebhookEndpoint(@Path() id: string): Promise<WebhookEndpointDto> {
    return webhookEndpointToDto(this.matched(await this.run(readEndpoint, id)));
  }

  /** @summary Change a webhook endpoint */
  @Put('endpoints/{id}')
  @Extension('x-operation', { entity: 'webhook', access: 'write', versioned: true })
  public async changeWebhookEndpoint(
    @Path() id: string,
    @Body() body: ChangeWebhookEndpointBody,
  ): Promise<WebhookEndpointDto> {
    return webhookEndpointToDto(
      this.tagged(await this.run(changeEndpoint, this.changeOf(id, body))),
    );
  }

  /** @summary Remove a webhook endpoint */
  @Delete('endpoints/{id}')
  @Extension('x-operation', { entity: 'webhook', access: 'write' })
  public async removeWebhookEndpoint(@Path() id: string): Promise<MessageDto> {
    await this.run(removeEndpoint, id);
    return { message: `webhook endpoint ${id} is removed` };
  }

  /**
   * For 24 hours the secret before signs too, so that the receiver can change in between.
   * @summary Rotate the secret of a webhook endpoint
   */
  @Post('endpoints/{id}/rotate_secret')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'webhook', access: 'write' })
  public async rotateWebhookSecret(@Path() id: string): Promise<RotatedSecretDto> {
    return { secret: await this.run(rotateSecret, id) };
  }

  /** @summary List webhook deliveries */
  @Get('deliveries')
  @Extension('x-operation', { entity: 'webhook', access: 'read' })
  public async listWebhookDeliveries(
    @Queries() query: WebhookDeliveriesQuery,
  ): Promise<WebhookDeliveryListDto> {
    const { endpoint_id, event_id, status, ...list } = query;
    const page = await this.run(listDeliveries, {
      request: listRequestFrom(list),
      endpointId: endpoint_id,
      eventId: event_id,
      status,
    });
    return pageToDto(page, webhookDeliveryToDto);
  }

  /** @summary Read a webhook delivery */
  @Get('deliveries/{id}')
  @Extension('x-operation', { entity: 'webhook', access: 'read' })
  public async readWebhookDelivery(@Path() id: string): Promise<WebhookDeliveryDto> {
    return webhookDeliveryToDto(await this.run(readDelivery, id));
  }

  /**
   * The same bytes with the same id, signed anew.
   * @summary Resend a webhook delivery
   */
  @Post('deliveries/{id}/resend')
  @SuccessResponse(202, 'Accepted')
  @Extension('x-operation', { entity: 'webhook', access: 'write' })
  public async resendWebhookDelivery(@Path() id: string): Promise<WebhookDeliveryDto> {
    return webhookDeliveryToDto(await this.run(resendDelivery, id));
  }

  /**
   * To every enabled endpoint that was to get it.
   * @summary Resend a system event
   */
  @Post('retry')
  @SuccessResponse(202, 'Accepted')
  @Extension('x-operation', { entity: 'webhook', access: 'write', notFound: true })
  public async retryWebhook(
    @Body() { system_event_id }: RetryWebhookBody,
  ): Promise<RetriedWebhookDto> {
    const count = await this.run(retryEvent, system_event_id);
    const message = count === 0 ? 'no enabled endpoint was to get it' : `sent again to ${count}`;
    return { success: count > 0, message, system_event_id };
  }
}
