import { Body, Extension, Path, Post, Route, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import {
  webhookDeliveryToDto,
  type WebhookDeliveryDto,
} from '../../declarations/webhooks/webhook-delivery.resource.js';
import type { TestWebhookEndpointBody } from '../../declarations/webhooks/webhook-endpoint.resource.js';
import {
  testEndpoint,
  type EndpointDependencies,
} from '../../webhooks/endpoints/endpoint-operations.js';
import { SAMPLE_EVENT } from './sample-invoice.js';

@Route('v1/webhooks')
@Tags('Webhooks')
export class WebhookTestController extends ApiController<EndpointDependencies> {
  /**
   * Sends the sample of `invoice.update.finalized`, or the last event of another name, once.
   * @summary Test a webhook endpoint
   */
  @Post('endpoints/{id}/test')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'webhook', access: 'write', rate: 'heavy' })
  public async testWebhookEndpoint(
    @Path() id: string,
    @Body() body: TestWebhookEndpointBody,
  ): Promise<WebhookDeliveryDto> {
    const { event_type: eventType = SAMPLE_EVENT.event_type } = body;
    return webhookDeliveryToDto(
      await this.run(testEndpoint, { id, eventType, sample: SAMPLE_EVENT }),
    );
  }
}
