import {
  Body,
  Controller,
  Extension,
  Path,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import {
  webhookDeliveryToDto,
  type WebhookDeliveryDto,
} from '../../declarations/webhooks/webhook-delivery.resource.js';
import type { TestWebhookEndpointBody } from '../../declarations/webhooks/webhook-endpoint.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import {
  testEndpoint,
  type EndpointDependencies,
} from '../../webhooks/endpoints/endpoint-operations.js';
import { SAMPLE_EVENT } from './sample-invoice.js';

@Route('v1/webhooks')
@Tags('Webhooks')
export class WebhookTestController extends Controller {
  constructor(private readonly dependencies: EndpointDependencies) {
    super();
  }

  /**
   * Sends the sample of `invoice.update.finalized`, or the last event of another name, once.
   * @summary Test a webhook endpoint
   */
  @Post('endpoints/{id}/test')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'webhook', access: 'write', rate: 'heavy' })
  public async testWebhookEndpoint(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: TestWebhookEndpointBody,
  ): Promise<WebhookDeliveryDto> {
    const { event_type: eventType = SAMPLE_EVENT.event_type } = body;
    const event = { id, eventType, sample: SAMPLE_EVENT };
    const tested = await testEndpoint(this.dependencies, occasionOf(request), event);
    return webhookDeliveryToDto(accepted(tested));
  }
}
