import {
  Body,
  Controller,
  Extension,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted, HttpFailure } from '../../edge/http-failure.js';
import { contextOf } from '../../edge/request-context.js';
import { tenantToDto } from '../../declarations/platform/tenant.js';
import { userToDto } from '../../declarations/platform/user.resource.js';
import {
  tokenToDto,
  type LogInBody,
  type SignedInDto,
  type SignedUpDto,
  type SignUpBody,
} from './auth-dto.js';
import { logIn, WRONG } from './log-in.js';
import { signUp, type AuthDependencies } from './sign-up.js';

@Route('v1/auth')
@Tags('Sign-in')
export class AuthController extends Controller {
  constructor(private readonly dependencies: AuthDependencies) {
    super();
  }

  /**
   * Makes a tenant with an environment for production and one for development, and its first
   * super_admin.
   * @summary Sign up
   */
  @Post('signup')
  @Extension('x-operation', { public: true, taken: true })
  @SuccessResponse(201, 'Created')
  public async signUp(
    @Request() request: HttpRequest,
    @Body() body: SignUpBody,
  ): Promise<SignedUpDto> {
    const { requestId } = contextOf(request);
    const { user, token } = accepted(await signUp(this.dependencies, { requestId }, body));
    this.setStatus(201);
    const { row, tenant } = user;
    const answered = userToDto(row, { tenant, environmentId: null });
    return { ...tokenToDto(token), user: answered, tenant: tenantToDto(tenant) };
  }

  /**
   * The token lives for 24 hours. It counts as much as the user does at the time of a request.
   * @summary Sign in
   */
  @Post('login')
  @Extension('x-operation', { public: true })
  public async logIn(
    @Request() _request: HttpRequest,
    @Body() body: LogInBody,
  ): Promise<SignedInDto> {
    const signedIn = await logIn(this.dependencies, body);
    if (signedIn === WRONG) {
      const message = 'the e-mail address or the password is wrong';
      throw new HttpFailure(401, 'permission_denied', { message });
    }
    const { user, token } = accepted(signedIn);
    const environmentId = body.environment_id ?? null;
    return { ...tokenToDto(token), user: userToDto(user.row, { ...user, environmentId }) };
  }
}
