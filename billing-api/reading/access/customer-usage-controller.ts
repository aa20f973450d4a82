import { Extension, Get, Query, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import { readCustomerUsage } from './customer-usage.js';
import { customerUsageToDto, type CustomerUsageDto } from './customer-usage-dto.js';
import type { UsageReadDependencies } from '../../usage/usage-customers.js';

/** What a customer has used of its limits; it stands below `/customers` in the interface. */
@Route('v1/customers/usage')
@Tags('Customers')
export class CustomerUsageController extends ApiController<UsageReadDependencies> {
  /**
   * Of every metered feature: what was used since its last reset, and the limit. The numbers are
   * those of usage answers and previews of the same range.
   * @summary Read what a customer has used of its limits
   */
  @Get()
  @Extension('x-operation', {
    entity: 'customer',
    access: 'read',
    rate: 'heavy',
    notFound: true,
  })
  public async readCustomerUsage(
    @Query() customer_id?: string,
    @Query() external_customer_id?: string,
  ): Promise<CustomerUsageDto> {
    return customerUsageToDto(
      await this.run(readCustomerUsage, { customer_id, external_customer_id }),
    );
  }
}
