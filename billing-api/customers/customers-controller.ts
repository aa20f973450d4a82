import {
  Body,
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import {
  createCustomer,
  readCustomer,
  readCustomerByExternalId,
  searchCustomers,
} from './customer-operations.js';
import {
  customerToDto,
  type CreateCustomerBody,
  type CustomerDto,
  type CustomerListDto,
  type SearchCustomersBody,
} from './customer.resource.js';
import { pageToDto } from '../records/search-records.js';
import { accepted } from '../edge/http-failure.js';
import { callerOf } from '../edge/request-context.js';
import type { ControllerDependencies } from '../ioc.js';

@Route('v1/customers')
@Tags('Customers')
export class CustomersController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
    super();
  }

  /** @summary Create a customer */
  @Post()
  @Extension('x-operation', { entity: 'customer', access: 'write' })
  @SuccessResponse(201, 'Created')
  public async createCustomer(
    @Request() request: HttpRequest,
    @Body() body: CreateCustomerBody,
  ): Promise<CustomerDto> {
    const customer = accepted(await createCustomer(this.dependencies, callerOf(request), body));
    this.setStatus(201);
    return customerToDto(customer);
  }

  /** @summary Search customers */
  @Post('search')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public async searchCustomers(
    @Request() request: HttpRequest,
    @Body() body: SearchCustomersBody,
  ): Promise<CustomerListDto> {
    const page = accepted(await searchCustomers(this.dependencies, callerOf(request), body));
    return pageToDto(page, customerToDto);
  }

  /** @summary Read a customer by your own id of it */
  @Get('external/{external_id}')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public async readCustomerByExternalId(
    @Request() request: HttpRequest,
    @Path() external_id: string,
  ): Promise<CustomerDto> {
    const caller = callerOf(request);
    return customerToDto(
      accepted(await readCustomerByExternalId(this.dependencies, caller, external_id)),
    );
  }

  /** @summary Read a customer */
  @Get('{id}')
  @Extension('x-operation', { entity: 'customer', access: 'read' })
  public async readCustomer(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<CustomerDto> {
    return customerToDto(accepted(await readCustomer(this.dependencies, callerOf(request), id)));
  }
}
