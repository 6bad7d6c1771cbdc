BEGIN TRANSACTION;
CREATE TABLE access_tokens (
	id VARCHAR(36) NOT NULL, 
	identity_id VARCHAR(36) NOT NULL, 
	auth_method VARCHAR(32) NOT NULL, 
	client_secret_id VARCHAR(36), 
	ttl INTEGER NOT NULL, 
	max_ttl INTEGER NOT NULL, 
	period INTEGER NOT NULL, 
	num_uses INTEGER NOT NULL, 
	num_uses_limit INTEGER NOT NULL, 
	trusted_ips JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	renewed_at BIGINT, 
	expires_at BIGINT, 
	CONSTRAINT pk_access_tokens PRIMARY KEY (id), 
	CONSTRAINT fk_access_tokens_client_secret_id_client_secrets FOREIGN KEY(client_secret_id) REFERENCES client_secrets (id) ON DELETE CASCADE, 
	CONSTRAINT fk_access_tokens_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE
);
INSERT INTO "access_tokens" VALUES('40ed967d-48e5-454d-8b28-2711cc9824c7','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','universal-auth','86cf39d9-0f4c-440c-a2a7-6c1a74004c31',2592000,2592000,0,0,0,'["0.0.0.0/0", "::/0"]',1795610181823,NULL,1798202181823);
CREATE TABLE acme_accounts (
	authority_id VARCHAR(36) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	url TEXT, 
	eab_key_id TEXT, 
	eab_secret BLOB, 
	private_key BLOB NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_acme_accounts PRIMARY KEY (authority_id), 
	CONSTRAINT fk_acme_accounts_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE CASCADE, 
	CONSTRAINT fk_acme_accounts_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE TABLE acme_challenges (
	token VARCHAR(128) NOT NULL, 
	request_id VARCHAR(36) NOT NULL, 
	key_authorization TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_acme_challenges PRIMARY KEY (token), 
	CONSTRAINT fk_acme_challenges_request_id_certificate_requests FOREIGN KEY(request_id) REFERENCES certificate_requests (id) ON DELETE CASCADE
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0010');
CREATE TABLE app_connections (
	id VARCHAR(36) NOT NULL, 
	organization_id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36), 
	name VARCHAR(64) NOT NULL, 
	description TEXT, 
	app VARCHAR(64) NOT NULL, 
	method VARCHAR(64) NOT NULL, 
	credentials BLOB NOT NULL, 
	credentials_hash VARCHAR(64) NOT NULL, 
	shown JSON NOT NULL, 
	version INTEGER NOT NULL, 
	is_auto_rotation_enabled BOOLEAN NOT NULL, 
	rotation_interval_days INTEGER, 
	rotation_hour INTEGER, 
	rotation_minute INTEGER, 
	rotation_status VARCHAR(16), 
	last_rotation_message TEXT, 
	next_rotation_at BIGINT, 
	rotation_held_until BIGINT, 
	retiring BLOB, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_app_connections PRIMARY KEY (id), 
	CONSTRAINT fk_app_connections_organization_id_organizations FOREIGN KEY(organization_id) REFERENCES organizations (id) ON DELETE CASCADE, 
	CONSTRAINT fk_app_connections_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
INSERT INTO "app_connections" VALUES('48c3e8d7-8b8e-46f2-93eb-3e91fdaee197','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'gitlab',NULL,'gitlab','access-token',X'019C1157E895F845689269C3066261CE220000000153D4196D016B9F5D09F1AE7BC97796EF96F7336BE61BD3DB251D672AD1068D8D0342E577E26031847063BB47A8A1DBBF0E5AF304595CB3831058CED062C0CB49C5DC65FBA86B6E5FBA4324753BDC610B78AD60DA7BB59ED357','6351b00ec7b495b8e0d9c51b07164764a76163747dfdada28b117a15c57fa7ab','{"accessTokenType": "personal"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610182373,1795610182373);
INSERT INTO "app_connections" VALUES('28e26a37-b6b8-4597-ac59-c89e64537aca','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'gitlab-hidden',NULL,'gitlab','access-token',X'019C1157E895F845689269C3066261CE2200000001FB977AF1296D410B3FA36BEB7A0A7B0B722F8419D9DF4D40E88D5ACEC073AC9C0ECE361DBCD8F209224E43BB81F259FFEAF8C59026E99B3614AA7066D6BED7DC71552C37522F6D653317131DE82E2EE75E1F876C8E5770D332','a94b6572b25cd4a755cb8d1bba769dd5cf6b438f46c9c8c76de4c7f4b1b44aa2','{"accessTokenType": "personal"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610182834,1795610182834);
INSERT INTO "app_connections" VALUES('3fabffb2-5535-4671-b7ee-d38aa70818e0','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'codehost',NULL,'codehost','pat',X'019C1157E895F845689269C3066261CE22000000018B7C8B67DD196FF9EE186A818ED0EF246E809A914519884831ECEB686A94145698D68E9D87800D9E4AF0E8FBD898098349206D082CD298776BA681EB0F732C595422','4714e6e32b2f9da4c2c11e149e6c7b6f36b162adacad67eb0c82fd2523093fa1','{}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610183076,1795610183076);
INSERT INTO "app_connections" VALUES('3009fbb3-33a9-4f4e-aa80-4445b1466e92','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'azure',NULL,'azure-key-vault','client-secret',X'019C1157E895F845689269C3066261CE2200000001F2028ED9AEE4FE210E9978E153DE9719DD2CC7409CB7CE67C129C270B7035F48E7183E6D5FE762D04ED04E0D956A127D545424F55700E922722E56892CBFFC7F19ADCF4453F84CBAF3479BA03B838BFF1E17296532D0F6021918135B7DB35ECFC19CA66A1C5549076DD74EBBB60E6735CBE7BBD88EEA08EC81E98D43506F9AD535FA63B7FB13E6889C053AD35D7EBA2C50C89B86048C64E428BBC1C5EED3AF11EDC7C8F0A3325BAB32BDDFBD','f8c88de08558ce9a78c961a80a20f64110e4b161f3bad8795e1830e703c808d4','{"tenantId": "11111111-2222-4333-8444-555555555555", "clientId": "66666666-7777-4888-8999-aaaaaaaaaaaa"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610183282,1795610183282);
INSERT INTO "app_connections" VALUES('2d34ef22-6741-4fcf-b699-a6b28763c295','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'gcp',NULL,'gcp','service-account-impersonation',X'019C1157E895F845689269C3066261CE2200000001BE0EC2808B48BD2F8DE171A53E4A95F9D0FE784A0196081E6FE5BD5A99820B8595C9BD503CC5D11CA927A3F0AD50AF9BA6CB048659001C04CECA66ADF1D95882546802E410BFE9497C035AB96832CE8F732D11C295BD52988D9E29A897E6711541E3037F9FDA','28bc023edff4c39bc5726e76b3a3f020485cd71c51bc83fa4aa9a807a80a2976','{}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610183823,1795610183823);
INSERT INTO "app_connections" VALUES('de8b7629-4a91-42d5-819f-b15d0dca7bc8','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'parameters',NULL,'cloud','access-key',X'019C1157E895F845689269C3066261CE2200000001051D100C03C4CF7419164A552B60EDDA114EE170D0D45AA2A52B7D79C858472D611D7353B3B42A01D400B395B07907DF4CFB419BEB5D10F1064A844811A331A0695039FED984F783940EC64254C65C59D65AB020483EE65D5984983ADB0CB14C155510','45f57cb9dac45905ab88b464e40c11c7bf53fb0f849f554c855cca0d16e3ebdc','{"accessKeyId": "AKIAEXAMPLE"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610184686,1795610184686);
INSERT INTO "app_connections" VALUES('0b7a423f-804d-46b0-bc42-92c3fea31cdc','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'secrets',NULL,'cloud','access-key',X'019C1157E895F845689269C3066261CE2200000001BE022C6FAB92E6EED5356C7BC92BC11802F6773B60832525BE209D569F6C87F4B6D3947FAC06F33C58617EC227521242D31B3E09F610C083C2158CBCFB1B916E176221B6FA3D2BA6B303FE2C288461A85E6C45AED60550F80640E4ED64228D6440AACA','4ab5694bae6199a23f80d0ef5fc8377ad0a2332a70505b5f2dc628cd05e5c43c','{"accessKeyId": "AKIAEXAMPLE"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610184953,1795610184953);
INSERT INTO "app_connections" VALUES('50086564-0255-46a3-9da3-07a650b885f6','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'many',NULL,'cloud','access-key',X'019C1157E895F845689269C3066261CE220000000148D5A3B84A7891AC7973F762DC5E5D1668D4D69E7C646B55F6C54C268FC7DCE48A784BE822668D4D619FE20B0BB2EB150B84BAA1DFB080588FCCFEF0B2634C174C6A1D33783C2E067E0680B9FCA5D9B5BDF3693B6AF1CEEFB59B6F817EEFC7DE66D8F9','7b082414695a649bb98e6f08730a3d2d75e8a29829652e2005558d17b3cb498d','{"accessKeyId": "AKIAEXAMPLE"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610185840,1795610185840);
INSERT INTO "app_connections" VALUES('4e605155-5b4c-4609-9644-2a1911893451','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'vault',NULL,'hashicorp-vault','access-token',X'019C1157E895F845689269C3066261CE22000000017AD65CF25C6CBD33A93AAF8D8EA78E56821CE05BC65E2723F14195DCB362B89647318FF5CB9D35BC2BF361DEFAF2E529E97A59D4A59CFC466A1F7F290B1A2507987BE1ACA7A71ABFA8DCAB04BEA866F9D0550C84F5A6E29A217594E71B75CCA150F551C76C16A550','c56539588c7db2ae18216687bbff795d2bf277cd35c2b0d302c62480e1d3f3e9','{"instanceUrl": "http://127.0.0.1:42675"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610186293,1795610186293);
INSERT INTO "app_connections" VALUES('9c6cb9b9-0e8e-4d38-a894-9937de99568c','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'other',NULL,'external-infisical','machine-identity',X'019C1157E895F845689269C3066261CE220000000151E1333CDF340DED9E741FE92369A2534CAF1CAA00C6A1504891657C9C0014D663DEB8B3593B3F4C1C984AB3D953B7BCC89DF88F473CF9130B9E573671CDA49DA86E7398B4D946A6CAFF3499A7237D7637E82BCA71A6EDE87FF39B540B2C756BAF62DA75F2184968BBCC89E063F551CB8621B31EB07243ACF1DE1DE165BF372FAC78F02B876B60F8B66F0DC32CA2464087525616F176893DECC9134781646CE9FF54A831C87CF1450FCDFB44B7B661A2C355A2FD6AEE0AC9C488C8E7BCD5B6065C908891BC9089202A11823CDB0DD527F82C161339F25465E384DBD311DC902D4A40BEF89021','3ecedf5d11971829991f3f3c3931e1aea2e5e251612d095e1dc2b4b3ef57190b','{"instanceUrl": "http://127.0.0.1:34925", "machineIdentityClientId": "02423bbf-93e7-4663-8b15-283e341dd572"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610186589,1795610186589);
INSERT INTO "app_connections" VALUES('fcd2f23d-7e76-46ea-ad8f-76412ac945cf','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'stuck',NULL,'gitlab','access-token',X'019C1157E895F845689269C3066261CE2200000001555CF360634353CD5E070135EB4AF06A1CF5E58B69E8360B5AD2069BEDCB4295C9E963135D90B36B735903E3DB847E32DE3EBBF24B01EF7072F65E4D62A62A915E6A522A906238307E6C65A8466CA5774A9EC39333FFDEBE33','5281387c02ce8a23907a3fbb0dbda97b6754095b1f1747f4a29db4a0e90ca82b','{"accessTokenType": "personal"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610189020,1795610189020);
INSERT INTO "app_connections" VALUES('5e734415-89eb-41b1-a646-0c1efeeb29ec','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'failed',NULL,'gitlab','access-token',X'019C1157E895F845689269C3066261CE22000000014665ACB19E28BDB785C5FD539B7B702D38CDDC6EF2BDFE52F3A8C7477ECE897591B70C43C4749E67A63BA710CD91BCFE9992FE8DB5F1B45031A682E6947A96C4603DE9195411700E89941BC767150ABF9FCA29BEF95D201911','e2ce8988884fc95d8bbf5c4776fb79e17fb75ff8f1a9e80978e69b7047773d41','{"accessTokenType": "personal"}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610189374,1795610189374);
INSERT INTO "app_connections" VALUES('ebf2f377-449a-4912-af96-d4aa8507180d','e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'killed',NULL,'codehost','pat',X'019C1157E895F845689269C3066261CE220000000186633601584DEFAFA4084CCECD695E10073BB1494B345EEB0FDDF9156A7CC36958CD4E229D0DEA98A518E3779AB5ED551F76553B0831D2E32D28C7B9E0A63F28C708','1af36afb109ed6a291e0c1197b62a7927bf959f84913671d593192f8e9552e01','{}',1,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1795610193314,1795610193314);
CREATE TABLE application_profiles (
	application_id VARCHAR(36) NOT NULL, 
	profile_id VARCHAR(36) NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_application_profiles PRIMARY KEY (application_id, profile_id), 
	CONSTRAINT fk_application_profiles_application_id_certificate_applications FOREIGN KEY(application_id) REFERENCES certificate_applications (id) ON DELETE CASCADE, 
	CONSTRAINT fk_application_profiles_profile_id_certificate_profiles FOREIGN KEY(profile_id) REFERENCES certificate_profiles (id) ON DELETE CASCADE
);
CREATE TABLE approval_policies (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	profile_id VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	is_enabled BOOLEAN NOT NULL, 
	required_approvals INTEGER NOT NULL, 
	approver_ids JSON NOT NULL, 
	bypass_identity_ids JSON NOT NULL, 
	allow_self_approval BOOLEAN NOT NULL, 
	request_ttl INTEGER, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_approval_policies PRIMARY KEY (id), 
	CONSTRAINT fk_approval_policies_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_approval_policies_profile_id_certificate_profiles FOREIGN KEY(profile_id) REFERENCES certificate_profiles (id) ON DELETE CASCADE, 
	CONSTRAINT uq_approval_policies_profile_id UNIQUE (profile_id)
);
CREATE TABLE approval_requests (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	request_id VARCHAR(36) NOT NULL, 
	policy_id VARCHAR(36), 
	status VARCHAR(16) NOT NULL, 
	required_approvals INTEGER NOT NULL, 
	approver_ids JSON NOT NULL, 
	allow_self_approval BOOLEAN NOT NULL, 
	expires_at BIGINT, 
	closed_at BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_approval_requests PRIMARY KEY (id), 
	CONSTRAINT fk_approval_requests_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_approval_requests_request_id_certificate_requests FOREIGN KEY(request_id) REFERENCES certificate_requests (id) ON DELETE CASCADE, 
	CONSTRAINT fk_approval_requests_policy_id_approval_policies FOREIGN KEY(policy_id) REFERENCES approval_policies (id) ON DELETE SET NULL, 
	CONSTRAINT uq_approval_requests_request_id UNIQUE (request_id)
);
CREATE TABLE approval_votes (
	approval_request_id VARCHAR(36) NOT NULL, 
	voter_id VARCHAR(36) NOT NULL, 
	voter_name TEXT NOT NULL, 
	verdict VARCHAR(16) NOT NULL, 
	comment TEXT, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_approval_votes PRIMARY KEY (approval_request_id, voter_id), 
	CONSTRAINT fk_approval_votes_approval_request_id_approval_requests FOREIGN KEY(approval_request_id) REFERENCES approval_requests (id) ON DELETE CASCADE
);
CREATE TABLE audit_log (
	id VARCHAR(36) NOT NULL, 
	created_at BIGINT NOT NULL, 
	organization_id VARCHAR(36), 
	project_id VARCHAR(36), 
	actor_kind VARCHAR(16) NOT NULL, 
	actor_id VARCHAR(36), 
	actor_name VARCHAR(255) NOT NULL, 
	event_type VARCHAR(64) NOT NULL, 
	ip_address VARCHAR(64), 
	user_agent VARCHAR(255) NOT NULL, 
	request_id VARCHAR(64) NOT NULL, 
	details JSON NOT NULL, 
	CONSTRAINT pk_audit_log PRIMARY KEY (id)
);
INSERT INTO "audit_log" VALUES('19e361f4-4797-4151-88da-2c0ede56b4b9',1795610181853,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','login-identity-universal-auth','127.0.0.1','python-httpx/0.28.1','req-ze1o0xC2X5IfGg','{"identityId":"07bd480e-8f73-49ee-a06d-e2f22ecdc8a9","clientSecretId":"86cf39d9-0f4c-440c-a2a7-6c1a74004c31"}');
INSERT INTO "audit_log" VALUES('a9944faa-1974-4fbf-855a-ad4ffa1ffc4e',1795610182161,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-user','127.0.0.1','python-httpx/0.28.1','req-KRKadgWUvYOOsA','{"userId":"a78b3016-97d4-4d85-8dd0-11d78b87aa35","email":"old@example.com"}');
INSERT INTO "audit_log" VALUES('27c4c8ad-1652-43fe-8efe-846ea494c192',1795610182215,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-project','127.0.0.1','python-httpx/0.28.1','req-DSMeAQfAIF9YpQ','{"name":"shop","slug":"shop-of-old"}');
INSERT INTO "audit_log" VALUES('2a46f896-b1b4-4b43-96ad-6cdc75759d56',1795610182264,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-nsdjefhfXCjXNg','{"environment":"dev","folderId":"430b359b-a6f1-4cf5-81da-bb037e567922","folderPath":"/gitlab"}');
INSERT INTO "audit_log" VALUES('9def189e-5319-4fe1-9438-12c0d58fe91e',1795610182310,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-iZUlo6hOtPoESQ','{"environment":"dev","secretPath":"/gitlab","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('2d01cf72-0d20-4d89-acfe-5d511e857824',1795610182333,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-EM6-V2GKUXnu8g','{"environment":"dev","secretPath":"/gitlab","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('eed91a0a-693f-4c50-8a47-2a5bdd0cdd87',1795610182348,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-61QPvQur29baLg','{"environment":"dev","secretPath":"/gitlab","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('67c6b27c-d68f-4d0f-9818-7af07812ba9a',1795610182361,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-XFgdDh2UU5lzmA','{"environment":"dev","secretPath":"/gitlab","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('ed8b08af-c661-4dd2-a96a-75c1e8cb9324',1795610182540,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-wwFzvjf0thgszg','{"connectionId":"48c3e8d7-8b8e-46f2-93eb-3e91fdaee197","name":"gitlab","app":"gitlab","method":"access-token"}');
INSERT INTO "audit_log" VALUES('8b5f3809-365f-4af2-9695-b08bcc8550d9',1795610182614,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-5Iq_fclxD0BL9Q','{"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9","name":"gitlab","destination":"gitlab","connectionId":"48c3e8d7-8b8e-46f2-93eb-3e91fdaee197","environment":"dev","secretPath":"/gitlab"}');
INSERT INTO "audit_log" VALUES('948836d8-ca20-4d1c-91ef-3799c77e4c57',1795610182639,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-LZioE3kNN17eXQ','{"environment":"dev","folderId":"d51dad6c-0890-437f-a9d6-80735084d972","folderPath":"/gitlab-hidden"}');
INSERT INTO "audit_log" VALUES('7ba126e7-0f05-4486-b156-15214da751fa',1795610182725,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-XPJikjB84si4xQ','{"environment":"dev","secretPath":"/gitlab-hidden","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('6902449e-cbbc-4223-bd6e-33dfa23f27e4',1795610182766,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-pNjM6RkMcYbPQA','{"environment":"dev","secretPath":"/gitlab-hidden","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('e67da34a-26f9-4f0e-b68d-556a666b26c5',1795610182785,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab','secret-sync-sync-secrets',NULL,'','','{"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9","name":"gitlab","destination":"gitlab","connectionId":"48c3e8d7-8b8e-46f2-93eb-3e91fdaee197","environment":"dev","secretPath":"/gitlab","jobId":"3a07abfc-4fa3-4c1b-bb4e-9efbdea3f388","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('67f2e1a6-6fa8-425a-8d46-c01206857e27',1795610182804,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-WM3wcXAeET5rtQ','{"environment":"dev","secretPath":"/gitlab-hidden","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('3c8d8db9-e529-4984-b0d4-215eb1b33d12',1795610182821,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-qhu2DdtWQkdR-A','{"environment":"dev","secretPath":"/gitlab-hidden","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('3a0c44d7-d83f-4385-9882-32543615523a',1795610182870,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-Sr48pr5vgRRjDw','{"connectionId":"28e26a37-b6b8-4597-ac59-c89e64537aca","name":"gitlab-hidden","app":"gitlab","method":"access-token"}');
INSERT INTO "audit_log" VALUES('ff26cbee-15a0-473c-91ac-fe945803eb90',1795610182901,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-j2wPxYURcnt16w','{"syncId":"3f9ad5e5-b030-4899-9206-c261a3e5e24b","name":"gitlab-hidden","destination":"gitlab","connectionId":"28e26a37-b6b8-4597-ac59-c89e64537aca","environment":"dev","secretPath":"/gitlab-hidden"}');
INSERT INTO "audit_log" VALUES('20a54957-beb7-4433-8c29-34e0ad3d4219',1795610182913,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-zjp7OC8zzvhZkA','{"environment":"dev","folderId":"3979601a-9dd7-4281-babe-444a0a5d42ee","folderPath":"/codehost"}');
INSERT INTO "audit_log" VALUES('afb3371c-e625-424b-9405-f0d23e2b439d',1795610182978,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-9M2p8WDJEjR2BQ','{"environment":"dev","secretPath":"/codehost","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('b266efeb-705c-405b-85cb-7cbe4178132a',1795610183006,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-qGA_bfwplVVvjg','{"environment":"dev","secretPath":"/codehost","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('7150449d-b3d6-4584-9975-20f96d501b92',1795610183022,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab-hidden','secret-sync-sync-secrets',NULL,'','','{"syncId":"3f9ad5e5-b030-4899-9206-c261a3e5e24b","name":"gitlab-hidden","destination":"gitlab","connectionId":"28e26a37-b6b8-4597-ac59-c89e64537aca","environment":"dev","secretPath":"/gitlab-hidden","jobId":"db3d1a53-9f4a-4f74-8a95-e705eca57cc3","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('6b2606d1-c259-4571-9ead-788141d79c73',1795610183042,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-DzIHH1-9TO0kFg','{"environment":"dev","secretPath":"/codehost","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('31bb47da-4a80-4527-abfd-6078ef3ca874',1795610183058,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-EHY-y_ZPmHrPiA','{"environment":"dev","secretPath":"/codehost","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('aeb03787-e470-4489-88d4-c4d66743052c',1795610183088,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-PIfYzZkxA0o7xg','{"connectionId":"3fabffb2-5535-4671-b7ee-d38aa70818e0","name":"codehost","app":"codehost","method":"pat"}');
INSERT INTO "audit_log" VALUES('7a8c8318-96e2-49c2-b877-2f8726295336',1795610183110,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-MP6DEjm-UiwwsQ','{"syncId":"4b4c23db-1a7a-4e8f-a91c-46cf2c0b6ece","name":"codehost","destination":"codehost","connectionId":"3fabffb2-5535-4671-b7ee-d38aa70818e0","environment":"dev","secretPath":"/codehost"}');
INSERT INTO "audit_log" VALUES('7f461894-7473-45a3-8b90-df1c18fb9dc0',1795610183139,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-sJeE1bnc4iqjPw','{"environment":"dev","folderId":"f1315ef1-8440-406b-adc7-b30d362e64ef","folderPath":"/azure"}');
INSERT INTO "audit_log" VALUES('bbd68e04-26cf-4328-8ade-afc9b0369d6d',1795610183179,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-iNWr9YuVRHGVfA','{"environment":"dev","secretPath":"/azure","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('f7303146-71a7-435d-a0ff-7cfa8a59d08e',1795610183202,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync codehost','secret-sync-sync-secrets',NULL,'','','{"syncId":"4b4c23db-1a7a-4e8f-a91c-46cf2c0b6ece","name":"codehost","destination":"codehost","connectionId":"3fabffb2-5535-4671-b7ee-d38aa70818e0","environment":"dev","secretPath":"/codehost","jobId":"e3feb1fa-9b10-4b9e-8386-b2cc8b8c42c8","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('d86eeb0f-83c8-4f8c-89e5-d019f4220a4a',1795610183218,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-ZN10ulG13_gVbQ','{"environment":"dev","secretPath":"/azure","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('9ed12fd0-87ee-48eb-9e61-fac902c7b93a',1795610183236,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-G_6j3As4C-gPCA','{"environment":"dev","secretPath":"/azure","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('5dd8032d-d128-48ad-aa98-58ace7c2c98f',1795610183263,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-JUXqS463xka1rA','{"environment":"dev","secretPath":"/azure","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('92ef6ac8-f0ec-4227-9343-ab84791ab90d',1795610183307,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-smdZAuH-emzxTw','{"connectionId":"3009fbb3-33a9-4f4e-aa80-4445b1466e92","name":"azure","app":"azure-key-vault","method":"client-secret"}');
INSERT INTO "audit_log" VALUES('9f70fe66-54c4-43e3-8fa0-eaa22bbae56c',1795610183351,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-6I1JBsX1tzrrxg','{"syncId":"a0afb5e6-816e-4324-89f7-c3e3dccdec80","name":"azure","destination":"azure-key-vault","connectionId":"3009fbb3-33a9-4f4e-aa80-4445b1466e92","environment":"dev","secretPath":"/azure"}');
INSERT INTO "audit_log" VALUES('671f62df-7977-4b60-82f2-ce6fc765bc5e',1795610183373,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-6rMnwCDGedvbUA','{"environment":"dev","folderId":"bc41bc9f-5954-4464-9a57-2716216dc337","folderPath":"/gcp"}');
INSERT INTO "audit_log" VALUES('936b668e-19ad-4e54-902a-23830f769a3a',1795610183398,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-BtA03-VgZIETHg','{"environment":"dev","secretPath":"/gcp","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('d08b9871-dc0b-4788-9efa-423223242988',1795610183534,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-pjEm5pqaydVG_w','{"environment":"dev","secretPath":"/gcp","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('b43f8bdc-5757-43fe-ae7a-d8a9537b368e',1795610183621,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-BfuX2JqGng-frQ','{"environment":"dev","secretPath":"/gcp","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('368c0705-002e-4d98-b1bb-1b1e96ab9496',1795610183674,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync azure','secret-sync-sync-secrets',NULL,'','','{"syncId":"a0afb5e6-816e-4324-89f7-c3e3dccdec80","name":"azure","destination":"azure-key-vault","connectionId":"3009fbb3-33a9-4f4e-aa80-4445b1466e92","environment":"dev","secretPath":"/azure","jobId":"1af2ba81-b350-4e3c-bd02-0346950fff30","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('862395d6-ae48-4efa-bace-ab52f5c8ae36',1795610183810,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-O_YLqHZxSUNytQ','{"environment":"dev","secretPath":"/gcp","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('d5700a4c-976e-4d1c-9ed5-fa25afd913ba',1795610182725,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9"}');
INSERT INTO "audit_log" VALUES('1890d1a6-9042-48cb-876f-b2d24d759fe3',1795610182979,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab-hidden','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab-hidden","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"3f9ad5e5-b030-4899-9206-c261a3e5e24b"}');
INSERT INTO "audit_log" VALUES('510efb6d-8eaa-40a8-8a93-157eaa5c1a58',1795610183142,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync codehost','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/codehost","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"4b4c23db-1a7a-4e8f-a91c-46cf2c0b6ece"}');
INSERT INTO "audit_log" VALUES('766b720d-0b79-4ffd-a898-8780d45638de',1795610183502,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync azure','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/azure","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"a0afb5e6-816e-4324-89f7-c3e3dccdec80"}');
INSERT INTO "audit_log" VALUES('d8ce1423-7508-4cc4-b58e-d98af2a70261',1795610184216,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-9WJeI6BJXWXMTQ','{"connectionId":"2d34ef22-6741-4fcf-b699-a6b28763c295","name":"gcp","app":"gcp","method":"service-account-impersonation"}');
INSERT INTO "audit_log" VALUES('b337a328-6316-4f92-96b0-72016f2e8445',1795610184290,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-XA1xxnNxteHGjA','{"syncId":"98872540-6e10-4115-bf49-f221764b0a26","name":"gcp","destination":"gcp-secret-manager","connectionId":"2d34ef22-6741-4fcf-b699-a6b28763c295","environment":"dev","secretPath":"/gcp"}');
INSERT INTO "audit_log" VALUES('e64b4219-6fc7-4fd2-b5c1-427d4c6a874d',1795610184347,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-LzxBFQH5BvhUbQ','{"environment":"dev","folderId":"ffdfedd5-e1f9-4f2d-ab08-80fac3485159","folderPath":"/parameters"}');
INSERT INTO "audit_log" VALUES('d5e44af7-fa50-4e72-a4b3-4c1e3cdcdce4',1795610184548,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-PIHkQagkkECnZg','{"environment":"dev","secretPath":"/parameters","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('7be4b004-fd59-446d-9470-973e6123cfbc',1795610184600,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-wyKnCwUeQAOzuw','{"environment":"dev","secretPath":"/parameters","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('ca2f52d3-4395-4487-9b3f-d3a417bc1ca3',1795610184635,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-uZwUyHwnay7XkA','{"environment":"dev","secretPath":"/parameters","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('42fbdcff-5a42-4220-b4cf-bcf449a7f17b',1795610184659,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gcp','secret-sync-sync-secrets',NULL,'','','{"syncId":"98872540-6e10-4115-bf49-f221764b0a26","name":"gcp","destination":"gcp-secret-manager","connectionId":"2d34ef22-6741-4fcf-b699-a6b28763c295","environment":"dev","secretPath":"/gcp","jobId":"51b4d678-ab71-4e71-82d1-e10c1c3db70f","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('eb33b214-25f8-4e64-8076-f35b683be607',1795610184678,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-IgxLzHnHhinLKg','{"environment":"dev","secretPath":"/parameters","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('1a7050b1-7d51-4078-8fdd-b77f4a5662a0',1795610184794,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-P6Ma3jiu23egxw','{"connectionId":"de8b7629-4a91-42d5-819f-b15d0dca7bc8","name":"parameters","app":"cloud","method":"access-key"}');
INSERT INTO "audit_log" VALUES('99c74115-55af-4e52-a984-d3c6c4270e7c',1795610184814,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-wZ2rPsmOStzoFg','{"syncId":"fa9fed12-88f6-46f6-afc6-a5e4be3d951f","name":"parameters","destination":"cloud-parameter-store","connectionId":"de8b7629-4a91-42d5-819f-b15d0dca7bc8","environment":"dev","secretPath":"/parameters"}');
INSERT INTO "audit_log" VALUES('b1edad73-3e4c-4d54-a97a-d33638f31735',1795610184840,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-Lj2SliPYRTiY7g','{"environment":"dev","folderId":"97da7280-f69c-4bfa-b076-77c15bd92a4f","folderPath":"/secrets"}');
INSERT INTO "audit_log" VALUES('5be3244e-9f8f-4105-8cc2-d7fcdfb1cf89',1795610184876,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-DRISWpbZNEe_Zg','{"environment":"dev","secretPath":"/secrets","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('e6b512bb-b0e7-45a6-a087-ac5b9023fca3',1795610184891,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-lp-S8sCbm5__pw','{"environment":"dev","secretPath":"/secrets","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('4c1c945a-fb6e-499c-9470-5f08a046f63c',1795610184914,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-CilSaBQCSU0FIg','{"environment":"dev","secretPath":"/secrets","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('11398635-00d7-4451-8ede-0e6cff83bd72',1795610184938,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-8SEpH1gaxPVjXQ','{"environment":"dev","secretPath":"/secrets","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('f80881e2-63f4-4cb3-96af-55b2fc9819c9',1795610185192,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-gW5Tr7ee5KLm8w','{"connectionId":"0b7a423f-804d-46b0-bc42-92c3fea31cdc","name":"secrets","app":"cloud","method":"access-key"}');
INSERT INTO "audit_log" VALUES('eee6aa51-153d-4e81-b28c-be29aef6b80b',1795610185342,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-uyNvxZB7BSIlyg','{"syncId":"7785079e-b7eb-491d-99aa-5b13e7c78faf","name":"secrets","destination":"cloud-secrets-manager","connectionId":"0b7a423f-804d-46b0-bc42-92c3fea31cdc","environment":"dev","secretPath":"/secrets"}');
INSERT INTO "audit_log" VALUES('598b47ef-7a15-4b45-9221-0f83c4d3ada5',1795610185391,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-028y7xHTrBWoww','{"environment":"dev","folderId":"706f68c5-0e02-4a4a-a1e8-cea7ee11425e","folderPath":"/many"}');
INSERT INTO "audit_log" VALUES('354008be-ae9d-455c-ab3f-717b58f99695',1795610185591,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-0-_pgJGXnjl2XQ','{"environment":"dev","secretPath":"/many","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('2ecb1a06-ad4a-47a1-995e-d959ef8f42e7',1795610184549,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gcp','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gcp","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"98872540-6e10-4115-bf49-f221764b0a26"}');
INSERT INTO "audit_log" VALUES('cdd21bed-f150-47c1-8567-57668859e68b',1795610184842,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync parameters','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/parameters","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"fa9fed12-88f6-46f6-afc6-a5e4be3d951f"}');
INSERT INTO "audit_log" VALUES('d9ad5990-8b15-40d3-9595-e6b22e1fce3e',1795610185639,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync parameters','secret-sync-sync-secrets',NULL,'','','{"syncId":"fa9fed12-88f6-46f6-afc6-a5e4be3d951f","name":"parameters","destination":"cloud-parameter-store","connectionId":"de8b7629-4a91-42d5-819f-b15d0dca7bc8","environment":"dev","secretPath":"/parameters","jobId":"09f609c3-fd81-403f-a2c6-0422c74e7299","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('9f1fb2df-4749-4e6f-9f74-e1bd86f24982',1795610185678,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-eDRisdXJihscIg','{"environment":"dev","secretPath":"/many","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('94ad6a19-db6a-4bda-8759-6bd425448380',1795610185594,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync secrets','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/secrets","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"7785079e-b7eb-491d-99aa-5b13e7c78faf"}');
INSERT INTO "audit_log" VALUES('7416baed-a550-4393-a77c-3523d69d1b6b',1795610185749,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync secrets','secret-sync-sync-secrets',NULL,'','','{"syncId":"7785079e-b7eb-491d-99aa-5b13e7c78faf","name":"secrets","destination":"cloud-secrets-manager","connectionId":"0b7a423f-804d-46b0-bc42-92c3fea31cdc","environment":"dev","secretPath":"/secrets","jobId":"52552d03-3b17-4e14-b2ae-f773474ac885","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('3cb98d0d-a114-4d92-9f92-c8c9dd3ba289',1795610185792,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-5e9_xlkxdKLotQ','{"environment":"dev","secretPath":"/many","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('378c8e79-c0c1-40ba-ba04-bf1d1e494916',1795610185834,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-jIOFU8glyk-SJg','{"environment":"dev","secretPath":"/many","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('4ec87728-2cb2-4c67-b54d-5d317cc58f12',1795610185897,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-cH7m3fWbaPhyQA','{"connectionId":"50086564-0255-46a3-9da3-07a650b885f6","name":"many","app":"cloud","method":"access-key"}');
INSERT INTO "audit_log" VALUES('7998e14b-fda3-4422-b778-b1d566fc92ba',1795610186006,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-_Lunrfks8nul4Q','{"syncId":"09f1dc2e-a15c-4bab-a82b-23a3aeb2b750","name":"many","destination":"cloud-secrets-manager","connectionId":"50086564-0255-46a3-9da3-07a650b885f6","environment":"dev","secretPath":"/many"}');
INSERT INTO "audit_log" VALUES('2ed95fc0-a93d-4f06-93e4-c09720218228',1795610186040,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-RzHoatn5mZf3Sw','{"environment":"dev","folderId":"53fbad6a-026f-401e-9e67-421dda95c828","folderPath":"/vault"}');
INSERT INTO "audit_log" VALUES('db3085be-e178-4547-8f3e-03b15a073985',1795610186126,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-At4Li0DbBX3Umg','{"environment":"dev","secretPath":"/vault","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('1029ed50-f386-40c0-a661-66e76ec45dea',1795610186194,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-jKhlHzNlnuK8pA','{"environment":"dev","secretPath":"/vault","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('cdcc9a20-0e56-4342-b420-42d885271a02',1795610186219,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync many','secret-sync-sync-secrets',NULL,'','','{"syncId":"09f1dc2e-a15c-4bab-a82b-23a3aeb2b750","name":"many","destination":"cloud-secrets-manager","connectionId":"50086564-0255-46a3-9da3-07a650b885f6","environment":"dev","secretPath":"/many","jobId":"dc56469f-5117-40b7-800c-a33bc342defa","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('aa88825f-73ac-4eaa-a6f3-d8589b00f2a4',1795610186255,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-j_qHMJv5DaXPoQ','{"environment":"dev","secretPath":"/vault","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('1a2f66b7-22b1-41e6-bc8d-52d4d3202f05',1795610186276,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-ZTLxorjVB6Deaw','{"environment":"dev","secretPath":"/vault","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('9cb2499a-fc85-42b5-83d6-8b45ffe7be1e',1795610186331,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-fQXDY1Jwjao4lg','{"connectionId":"4e605155-5b4c-4609-9644-2a1911893451","name":"vault","app":"hashicorp-vault","method":"access-token"}');
INSERT INTO "audit_log" VALUES('d5fe4838-e222-408e-a7b4-41371d4f1a71',1795610186347,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-cu_rMarlR57JKA','{"syncId":"7ded51bc-6611-40e1-be05-d0d71434309a","name":"vault","destination":"hashicorp-vault","connectionId":"4e605155-5b4c-4609-9644-2a1911893451","environment":"dev","secretPath":"/vault"}');
INSERT INTO "audit_log" VALUES('30b6895e-22a8-436c-a0cf-8c2eb1d4b5f4',1795610186378,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-pqMRwVlO7gSbUQ','{"environment":"dev","folderId":"a5539143-4f6c-4db5-8006-ed7a87ad852f","folderPath":"/other"}');
INSERT INTO "audit_log" VALUES('d2da809e-0ad9-433d-a57c-ba2c0204860f',1795610186457,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-pep8a4QnpKjGJA','{"environment":"dev","secretPath":"/other","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('748f99ce-91b4-48f1-8494-c549a33eeaea',1795610186495,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-AelWYHcdk0Az5g','{"environment":"dev","secretPath":"/other","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('eedd8d60-5dfd-49b9-8c9e-d18449fa8455',1795610186511,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync vault','secret-sync-sync-secrets',NULL,'','','{"syncId":"7ded51bc-6611-40e1-be05-d0d71434309a","name":"vault","destination":"hashicorp-vault","connectionId":"4e605155-5b4c-4609-9644-2a1911893451","environment":"dev","secretPath":"/vault","jobId":"eb46e2ca-4e76-4996-872f-b130ef827f5d","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('186fa163-51f9-4861-bd7c-6ae3a1fad650',1795610186549,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-hDgx2ExnHKOhPg','{"environment":"dev","secretPath":"/other","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('3070b86c-c8e5-41ee-98d0-edf7bbe041e1',1795610186578,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-j6Y_cG86oP5glA','{"environment":"dev","secretPath":"/other","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('e871b039-0389-4458-86a1-a0f265aa0cf0',1795610186652,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-UohPfhI5PAvC5A','{"connectionId":"9c6cb9b9-0e8e-4d38-a894-9937de99568c","name":"other","app":"external-infisical","method":"machine-identity"}');
INSERT INTO "audit_log" VALUES('de29e773-c80b-43e4-8544-b1e21dfab92c',1795610186687,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req--wCy044TaTwkvQ','{"syncId":"3796bb61-6734-47c0-a643-ec5b35eb5247","name":"other","destination":"external-infisical","connectionId":"9c6cb9b9-0e8e-4d38-a894-9937de99568c","environment":"dev","secretPath":"/other"}');
INSERT INTO "audit_log" VALUES('0d41b718-f666-4b9b-971a-5588c7350098',1795610186128,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync many','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/many","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"09f1dc2e-a15c-4bab-a82b-23a3aeb2b750"}');
INSERT INTO "audit_log" VALUES('b06e4e5e-e6c0-4193-a7ae-93a6dea8b81f',1795610186390,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync vault','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/vault","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"7ded51bc-6611-40e1-be05-d0d71434309a"}');
INSERT INTO "audit_log" VALUES('e151f0e8-6b10-486c-97e7-02ddfb347760',1795610186957,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync other','secret-sync-sync-secrets',NULL,'','','{"syncId":"3796bb61-6734-47c0-a643-ec5b35eb5247","name":"other","destination":"external-infisical","connectionId":"9c6cb9b9-0e8e-4d38-a894-9937de99568c","environment":"dev","secretPath":"/other","jobId":"32b555f2-4274-49ba-941d-69640ee0cdfd","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('f535cacf-6354-4b8b-8424-7ca6845059a9',1795610187027,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret-sync','127.0.0.1','python-httpx/0.28.1','req-zHgYQW-hHzU8KA','{"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9","name":"gitlab","destination":"gitlab","connectionId":"48c3e8d7-8b8e-46f2-93eb-3e91fdaee197","environment":"dev","secretPath":"/gitlab"}');
INSERT INTO "audit_log" VALUES('390cf0be-6fb6-4385-9492-9c540c2a8af4',1795610187084,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab','secret-sync-sync-secrets',NULL,'','','{"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9","name":"gitlab","destination":"gitlab","connectionId":"48c3e8d7-8b8e-46f2-93eb-3e91fdaee197","environment":"dev","secretPath":"/gitlab","jobId":"7f58c3e2-6699-4eb8-8388-620102ddd0a3","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('4893e02d-5bb9-4237-a413-c716bdca1787',1795610187136,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret-sync','127.0.0.1','python-httpx/0.28.1','req-o3HFsGUG5J1dTg','{"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9","name":"gitlab","destination":"gitlab","connectionId":"48c3e8d7-8b8e-46f2-93eb-3e91fdaee197","environment":"dev","secretPath":"/gitlab"}');
INSERT INTO "audit_log" VALUES('3f7e26cd-8297-429f-ad56-30de9eeef9c9',1795610187182,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab','secret-sync-sync-secrets',NULL,'','','{"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9","name":"gitlab","destination":"gitlab","connectionId":"48c3e8d7-8b8e-46f2-93eb-3e91fdaee197","environment":"dev","secretPath":"/gitlab","jobId":"6ae9c119-23a6-448c-99fd-475efc24303e","status":"succeeded","secrets":4,"written":0,"removed":0}');
INSERT INTO "audit_log" VALUES('acf307f4-d4ad-43ca-acd4-6f6287add0c7',1795610187218,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-qGOfRe0jx7H45w','{"environment":"dev","secretPath":"/gitlab","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('2cab9176-e387-4335-9981-c139495a7b62',1795610187293,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab','secret-sync-sync-secrets',NULL,'','','{"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9","name":"gitlab","destination":"gitlab","connectionId":"48c3e8d7-8b8e-46f2-93eb-3e91fdaee197","environment":"dev","secretPath":"/gitlab","jobId":"73402fdd-4e88-4aff-b708-063667fb943f","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('a62dfcdf-c3ac-4a11-a081-5f7df11b037a',1795610187351,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-4U5c7vqa6ueZbA','{"environment":"dev","secretPath":"/gitlab-hidden","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('ebae3208-a05d-422d-9b62-1e66142f45ff',1795610187432,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab-hidden','secret-sync-sync-secrets',NULL,'','','{"syncId":"3f9ad5e5-b030-4899-9206-c261a3e5e24b","name":"gitlab-hidden","destination":"gitlab","connectionId":"28e26a37-b6b8-4597-ac59-c89e64537aca","environment":"dev","secretPath":"/gitlab-hidden","jobId":"2a33aa23-a91d-4819-8272-467f049a253d","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('60cf28f4-b349-4583-bd34-cd2e8636277d',1795610187495,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-8j9lYqTEPLSG5w','{"environment":"dev","secretPath":"/codehost","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('0a07a3c4-e8af-455f-9484-74b4aa62152a',1795610187634,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync codehost','secret-sync-sync-secrets',NULL,'','','{"syncId":"4b4c23db-1a7a-4e8f-a91c-46cf2c0b6ece","name":"codehost","destination":"codehost","connectionId":"3fabffb2-5535-4671-b7ee-d38aa70818e0","environment":"dev","secretPath":"/codehost","jobId":"8b19ad8a-2409-48cf-8401-5be53fbfcc9b","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('560fa82a-4edb-4810-ab47-ae853ecb6af0',1795610187702,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-4pMsAb6DIHi33A','{"environment":"dev","secretPath":"/azure","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('01bd717a-9419-406e-be79-af1206b250fd',1795610186780,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync other','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/other","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"3796bb61-6734-47c0-a643-ec5b35eb5247"}');
INSERT INTO "audit_log" VALUES('3859965d-7433-4902-beb8-13080ecca8e5',1795610187057,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9"}');
INSERT INTO "audit_log" VALUES('0de76a00-aaff-4d06-ba23-9ba71c4a33ff',1795610187171,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9"}');
INSERT INTO "audit_log" VALUES('b25304b8-15aa-41b7-afd6-6b48084214d5',1795610187278,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"73620e3c-1b2e-4deb-ba86-9cbd7e057da9"}');
INSERT INTO "audit_log" VALUES('b85ca176-668e-4794-9b2c-b02ddd1fcace',1795610187422,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gitlab-hidden','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gitlab-hidden","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"3f9ad5e5-b030-4899-9206-c261a3e5e24b"}');
INSERT INTO "audit_log" VALUES('57dc975c-95f5-4efe-9803-e2889684e0cb',1795610187618,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync codehost','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/codehost","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"4b4c23db-1a7a-4e8f-a91c-46cf2c0b6ece"}');
INSERT INTO "audit_log" VALUES('d006301c-af4a-4927-80d5-206858625fbd',1795610187786,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync azure','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/azure","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"a0afb5e6-816e-4324-89f7-c3e3dccdec80"}');
INSERT INTO "audit_log" VALUES('62f6fb62-c618-493d-9575-18ef771adaea',1795610187794,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync azure','secret-sync-sync-secrets',NULL,'','','{"syncId":"a0afb5e6-816e-4324-89f7-c3e3dccdec80","name":"azure","destination":"azure-key-vault","connectionId":"3009fbb3-33a9-4f4e-aa80-4445b1466e92","environment":"dev","secretPath":"/azure","jobId":"853101ef-8418-4037-b4eb-c4f41ccd10c2","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('c45c25d2-396c-4058-9f98-2756e6d0dd4a',1795610187876,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-Kz0ImkeQYKbOIw','{"environment":"dev","secretPath":"/gcp","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('fc225188-500b-428b-b6fb-458ee3571046',1795610188099,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gcp','secret-sync-sync-secrets',NULL,'','','{"syncId":"98872540-6e10-4115-bf49-f221764b0a26","name":"gcp","destination":"gcp-secret-manager","connectionId":"2d34ef22-6741-4fcf-b699-a6b28763c295","environment":"dev","secretPath":"/gcp","jobId":"16ac978e-49b9-4480-95da-671a4cc039fd","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('2aaac8b3-6f0a-4678-b23c-22ae3e24dab3',1795610188151,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-ckoTP4KlBX5KFw','{"environment":"dev","secretPath":"/parameters","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('f37b255c-9add-4094-968c-d10a38a9ce3b',1795610188334,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync parameters','secret-sync-sync-secrets',NULL,'','','{"syncId":"fa9fed12-88f6-46f6-afc6-a5e4be3d951f","name":"parameters","destination":"cloud-parameter-store","connectionId":"de8b7629-4a91-42d5-819f-b15d0dca7bc8","environment":"dev","secretPath":"/parameters","jobId":"ca4dd5c5-f401-4726-b367-9c458b6aca0c","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('c13eb17c-4596-4717-8e2e-d5255031cb5c',1795610188393,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-M1QPBnZJFUgY3A','{"environment":"dev","secretPath":"/secrets","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('63fd7144-455b-45c7-8ec2-a641784df914',1795610188546,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync secrets','secret-sync-sync-secrets',NULL,'','','{"syncId":"7785079e-b7eb-491d-99aa-5b13e7c78faf","name":"secrets","destination":"cloud-secrets-manager","connectionId":"0b7a423f-804d-46b0-bc42-92c3fea31cdc","environment":"dev","secretPath":"/secrets","jobId":"ff7213ad-76c2-4cdd-b9e1-4ce139dc097a","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('cd7e3f27-22d5-479a-bba2-154b31861ed0',1795610188569,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-GN43E5H7iNK00A','{"environment":"dev","secretPath":"/many","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('4cac50b1-6dd0-446a-9022-3be848d760f1',1795610188658,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync many','secret-sync-sync-secrets',NULL,'','','{"syncId":"09f1dc2e-a15c-4bab-a82b-23a3aeb2b750","name":"many","destination":"cloud-secrets-manager","connectionId":"50086564-0255-46a3-9da3-07a650b885f6","environment":"dev","secretPath":"/many","jobId":"ba7c1e14-ae81-462f-9f15-5cb1a7d4534d","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('1e28f741-5c51-4385-80f7-b0c1cff63774',1795610188697,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-eT9I6fEFQOs3_A','{"environment":"dev","secretPath":"/vault","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('53342ce7-518b-425e-8ae0-ce0796d137fd',1795610188770,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync vault','secret-sync-sync-secrets',NULL,'','','{"syncId":"7ded51bc-6611-40e1-be05-d0d71434309a","name":"vault","destination":"hashicorp-vault","connectionId":"4e605155-5b4c-4609-9644-2a1911893451","environment":"dev","secretPath":"/vault","jobId":"2f6da7a4-d398-482e-bffd-43b304005de9","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('cf325adf-9869-47df-ae85-e79048429250',1795610188084,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync gcp','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/gcp","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"98872540-6e10-4115-bf49-f221764b0a26"}');
INSERT INTO "audit_log" VALUES('5b6a23bb-a311-41c5-9cf6-fa350455c9c8',1795610188286,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync parameters','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/parameters","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"fa9fed12-88f6-46f6-afc6-a5e4be3d951f"}');
INSERT INTO "audit_log" VALUES('3a4feb90-7a31-4109-9bd6-2be09eb86f0c',1795610188530,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync secrets','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/secrets","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"7785079e-b7eb-491d-99aa-5b13e7c78faf"}');
INSERT INTO "audit_log" VALUES('9975000a-f0d6-48df-a894-b02e3584a1fc',1795610188645,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync many','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/many","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"09f1dc2e-a15c-4bab-a82b-23a3aeb2b750"}');
INSERT INTO "audit_log" VALUES('fd920952-45fb-4349-96cd-832c5c0496e7',1795610188740,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync vault','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/vault","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"7ded51bc-6611-40e1-be05-d0d71434309a"}');
INSERT INTO "audit_log" VALUES('60488e38-1ef6-4d9b-a087-4d894da9e8c7',1795610188802,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','update-secret','127.0.0.1','python-httpx/0.28.1','req-5pwzUp0xMfn7Vw','{"environment":"dev","secretPath":"/other","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('fbebb2e0-40f2-4211-bb4a-ca7a61d8a107',1795610188875,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync other','secret-sync-sync-secrets',NULL,'','','{"syncId":"3796bb61-6734-47c0-a643-ec5b35eb5247","name":"other","destination":"external-infisical","connectionId":"9c6cb9b9-0e8e-4d38-a894-9937de99568c","environment":"dev","secretPath":"/other","jobId":"3be76547-054d-4783-8b2c-5c10e2982a12","status":"succeeded","secrets":4,"written":1,"removed":0}');
INSERT INTO "audit_log" VALUES('ebffcbb9-5acc-4d51-8416-c58237ae6a41',1795610188934,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-V-DFU2liPtG50A','{"environment":"dev","folderId":"61966e0e-c94f-4539-b840-ee9b31e53fd8","folderPath":"/stuck"}');
INSERT INTO "audit_log" VALUES('f862f11b-e478-4e7e-a129-587a5cebfc5f',1795610188944,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-QOEnM_9SnUs7mA','{"environment":"dev","secretPath":"/stuck","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('f08e5e02-b843-4583-bc63-bb705c54ab52',1795610188958,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-plSbm7lF5c2duw','{"environment":"dev","secretPath":"/stuck","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('eaa4eb1a-663d-44f8-8932-a0cfc645f4e0',1795610188974,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-p25dFZmLIybuyg','{"environment":"dev","secretPath":"/stuck","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('19916d82-dce7-4f70-9137-626c60c9a07d',1795610189015,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-uukz2n0kRriqDg','{"environment":"dev","secretPath":"/stuck","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('3c1ac092-8834-4e08-b118-edd14c449832',1795610189050,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-7LQbephOo37EPw','{"connectionId":"fcd2f23d-7e76-46ea-ad8f-76412ac945cf","name":"stuck","app":"gitlab","method":"access-token"}');
INSERT INTO "audit_log" VALUES('9c143819-b87d-4172-9b68-bb346ad1f195',1795610189070,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-zegdI6oLzrzHYQ','{"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5","name":"stuck","destination":"gitlab","connectionId":"fcd2f23d-7e76-46ea-ad8f-76412ac945cf","environment":"dev","secretPath":"/stuck"}');
INSERT INTO "audit_log" VALUES('2dd11d62-6051-4869-91e3-925a93a2f025',1795610189143,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync stuck','secret-sync-sync-secrets',NULL,'','','{"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5","name":"stuck","destination":"gitlab","connectionId":"fcd2f23d-7e76-46ea-ad8f-76412ac945cf","environment":"dev","secretPath":"/stuck","jobId":"c8ddbf10-6cff-4745-ad44-5a5a33955500","status":"succeeded","secrets":4,"written":4,"removed":0}');
INSERT INTO "audit_log" VALUES('9351a489-1885-4d6d-8cf6-2cb6a9b8ee66',1795610189221,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync stuck','secret-sync-sync-secrets',NULL,'','','{"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5","name":"stuck","destination":"gitlab","connectionId":"fcd2f23d-7e76-46ea-ad8f-76412ac945cf","environment":"dev","secretPath":"/stuck","jobId":"84c3710b-33e6-480e-9c2b-ff34433678c6","status":"succeeded","secrets":4,"written":0,"removed":0}');
INSERT INTO "audit_log" VALUES('d3de4fb0-5845-4f5c-a166-511e1597a6f9',1795610189271,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req--Qmlw1aCpBWnig','{"environment":"dev","folderId":"94adb655-e9d4-423c-8919-1e4e41163f98","folderPath":"/failed"}');
INSERT INTO "audit_log" VALUES('0cb023eb-3daf-40c5-bb8d-0672729df152',1795610189295,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-y7QsM0ug4C7Y4w','{"environment":"dev","secretPath":"/failed","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('eddb07ff-f862-4971-b347-edde3ccb841a',1795610189331,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-s9OWEEAqjLdugA','{"environment":"dev","secretPath":"/failed","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('f1c21dfc-16a2-46d6-9894-9ffbc54af635',1795610189354,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-03b_dwUwCZboJw','{"environment":"dev","secretPath":"/failed","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('6caa0612-4a76-4105-9b9a-38b5a2f24add',1795610189367,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-G5gqWAzozS026w','{"environment":"dev","secretPath":"/failed","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('79abcda6-b581-45d8-9c28-5bb5ba3d23f8',1795610189388,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-MGLWgeLDoVpmAg','{"connectionId":"5e734415-89eb-41b1-a646-0c1efeeb29ec","name":"failed","app":"gitlab","method":"access-token"}');
INSERT INTO "audit_log" VALUES('949d8112-9af4-487e-a4ad-c380c364c30a',1795610189415,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-c-g4Uhd1xRlc8A','{"syncId":"a0e3cedb-17b8-4559-b01c-82f0c7937fb8","name":"failed","destination":"gitlab","connectionId":"5e734415-89eb-41b1-a646-0c1efeeb29ec","environment":"dev","secretPath":"/failed"}');
INSERT INTO "audit_log" VALUES('befcde27-669e-4a8b-9df2-43514af5c31d',1795610188850,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync other','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/other","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"3796bb61-6734-47c0-a643-ec5b35eb5247"}');
INSERT INTO "audit_log" VALUES('b7bcacb4-3379-4a76-a130-4af99d80280d',1795610189110,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5"}');
INSERT INTO "audit_log" VALUES('695b36e9-a50e-4c46-b21c-93c3f41d8c2f',1795610189215,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5"}');
INSERT INTO "audit_log" VALUES('60504ae6-27a2-478d-aed4-c9db409e946a',1795610189460,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync failed','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/failed","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"a0e3cedb-17b8-4559-b01c-82f0c7937fb8"}');
INSERT INTO "audit_log" VALUES('8e24b8ea-57b8-437b-b71a-420037a77e2a',1795610189576,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync failed','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/failed","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"a0e3cedb-17b8-4559-b01c-82f0c7937fb8"}');
INSERT INTO "audit_log" VALUES('731e64a2-a822-40c9-adab-5fba92ed7886',1795610189777,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync failed','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/failed","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"a0e3cedb-17b8-4559-b01c-82f0c7937fb8"}');
INSERT INTO "audit_log" VALUES('55432478-86e6-4e84-a7b3-a725fea9c179',1795610191128,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync failed','secret-sync-sync-secrets',NULL,'','','{"syncId":"a0e3cedb-17b8-4559-b01c-82f0c7937fb8","name":"failed","destination":"gitlab","connectionId":"5e734415-89eb-41b1-a646-0c1efeeb29ec","environment":"dev","secretPath":"/failed","jobId":"e00dd9ed-99b1-4f8f-9d31-352e67e444ab","status":"failed"}');
INSERT INTO "audit_log" VALUES('a4bfd8ac-b4b3-4158-8578-b16721e6ef9b',1795610191161,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','request-secret-sync-job','127.0.0.1','python-httpx/0.28.1','req-QBw6s9PhtqdUYQ','{"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5","name":"stuck","destination":"gitlab","connectionId":"fcd2f23d-7e76-46ea-ad8f-76412ac945cf","environment":"dev","secretPath":"/stuck","job":"sync"}');
INSERT INTO "audit_log" VALUES('296c0352-6ad6-4490-b230-6c0d77a7546a',1795610190259,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync failed','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/failed","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"a0e3cedb-17b8-4559-b01c-82f0c7937fb8"}');
INSERT INTO "audit_log" VALUES('99ddc12e-9bc3-4fdc-9100-10a7094caa18',1795610191121,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync failed','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/failed","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"a0e3cedb-17b8-4559-b01c-82f0c7937fb8"}');
INSERT INTO "audit_log" VALUES('ef46cbae-02e6-4bf7-b43d-8c4909692571',1795610191286,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5"}');
INSERT INTO "audit_log" VALUES('f92a270c-1cbc-4b65-9eb7-198b4a3df818',1795610191413,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5"}');
INSERT INTO "audit_log" VALUES('11f9c54f-143d-43fa-8d9a-93c6d51b40a1',1795610191702,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5"}');
INSERT INTO "audit_log" VALUES('2c7084a4-82b2-4a1c-8710-04626c119c69',1795610192190,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync stuck','get-secrets',NULL,'','','{"environment":"dev","secretPath":"/stuck","numberOfSecrets":4,"secretKeys":["CHANGED","KEPT","REMOVED","TEXT"],"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5"}');
INSERT INTO "audit_log" VALUES('4f8c80ac-49e2-42f1-b318-225fbc6d1d8e',1795610193060,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine',NULL,'secret sync stuck','secret-sync-sync-secrets',NULL,'','','{"syncId":"4b6652e2-eef6-4e20-a600-d6d6bb1710b5","name":"stuck","destination":"gitlab","connectionId":"fcd2f23d-7e76-46ea-ad8f-76412ac945cf","environment":"dev","secretPath":"/stuck","jobId":"ef09eb73-17b2-43ed-afc9-1816479e53dd","status":"failed"}');
INSERT INTO "audit_log" VALUES('f1641e6a-b079-4657-82fe-5d196e469813',1795610193113,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-folder','127.0.0.1','python-httpx/0.28.1','req-uk87izHcyLwV6Q','{"environment":"dev","folderId":"4a7a4398-7880-4d6a-a87f-73112665f9eb","folderPath":"/killed"}');
INSERT INTO "audit_log" VALUES('ae456130-9ca6-4190-8da4-7cb3a24706f0',1795610193129,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-eRS3va0rJikFZA','{"environment":"dev","secretPath":"/killed","secretKeys":["CHANGED"]}');
INSERT INTO "audit_log" VALUES('8bc7a554-fbbe-49ef-a133-74f6ade9f298',1795610193155,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-UCrdPT-doQhT_w','{"environment":"dev","secretPath":"/killed","secretKeys":["KEPT"]}');
INSERT INTO "audit_log" VALUES('35d03bb7-1f15-440b-9cbe-707b13e53b3a',1795610193176,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-6ACv3c6H3ZYu1g','{"environment":"dev","secretPath":"/killed","secretKeys":["REMOVED"]}');
INSERT INTO "audit_log" VALUES('eb09e676-75f0-48c9-b9cf-74e2a7315197',1795610193307,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret','127.0.0.1','python-httpx/0.28.1','req-fSa7zaQbfa7g0Q','{"environment":"dev","secretPath":"/killed","secretKeys":["TEXT"]}');
INSERT INTO "audit_log" VALUES('98605a2d-982e-4464-bdc5-b22a4281546f',1795610193333,'e6bba4cf-404f-4748-a709-4e388b3abe4e',NULL,'machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-app-connection','127.0.0.1','python-httpx/0.28.1','req-DPVfPkDxJaegIA','{"connectionId":"ebf2f377-449a-4912-af96-d4aa8507180d","name":"killed","app":"codehost","method":"pat"}');
INSERT INTO "audit_log" VALUES('d7d1295e-557f-41fd-82ef-24a87955152f',1795610193350,'e6bba4cf-404f-4748-a709-4e388b3abe4e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','machine','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','admin','create-secret-sync','127.0.0.1','python-httpx/0.28.1','req-upOwXiItc7jCyg','{"syncId":"9622f5d0-a3ab-4afa-adda-6eb19c005be7","name":"killed","destination":"codehost","connectionId":"ebf2f377-449a-4912-af96-d4aa8507180d","environment":"dev","secretPath":"/killed"}');
CREATE TABLE authority_certificates (
	id VARCHAR(36) NOT NULL, 
	authority_id VARCHAR(36) NOT NULL, 
	parent_id VARCHAR(36), 
	version INTEGER NOT NULL, 
	certificate TEXT NOT NULL, 
	chain TEXT NOT NULL, 
	serial_number VARCHAR(64) NOT NULL, 
	fingerprint VARCHAR(64) NOT NULL, 
	max_path_length INTEGER, 
	not_before BIGINT NOT NULL, 
	not_after BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_authority_certificates PRIMARY KEY (id), 
	CONSTRAINT fk_authority_certificates_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE CASCADE, 
	CONSTRAINT fk_authority_certificates_parent_id_certificate_authorities FOREIGN KEY(parent_id) REFERENCES certificate_authorities (id) ON DELETE SET NULL, 
	CONSTRAINT uq_authority_certificates_authority_id_version UNIQUE (authority_id, version)
);
CREATE TABLE certificate_applications (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	description TEXT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificate_applications PRIMARY KEY (id), 
	CONSTRAINT fk_certificate_applications_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_certificate_applications_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE certificate_authorities (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	kind VARCHAR(32) NOT NULL, 
	status VARCHAR(32) NOT NULL, 
	enable_direct_issuance BOOLEAN NOT NULL, 
	configuration JSON NOT NULL, 
	certificate_id VARCHAR(36), 
	private_key BLOB, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificate_authorities PRIMARY KEY (id), 
	CONSTRAINT fk_certificate_authorities_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_certificate_authorities_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE certificate_policies (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	description TEXT, 
	rules JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificate_policies PRIMARY KEY (id), 
	CONSTRAINT fk_certificate_policies_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_certificate_policies_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE certificate_profiles (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	policy_id VARCHAR(36) NOT NULL, 
	authority_id VARCHAR(36), 
	slug VARCHAR(255) NOT NULL, 
	description TEXT, 
	issuer_type VARCHAR(16) NOT NULL, 
	enrollment_type VARCHAR(16) NOT NULL, 
	external_configs JSON, 
	defaults JSON, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificate_profiles PRIMARY KEY (id), 
	CONSTRAINT fk_certificate_profiles_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_certificate_profiles_policy_id_certificate_policies FOREIGN KEY(policy_id) REFERENCES certificate_policies (id), 
	CONSTRAINT fk_certificate_profiles_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id), 
	CONSTRAINT uq_certificate_profiles_project_id_slug UNIQUE (project_id, slug)
);
CREATE TABLE certificate_request_metadata (
	request_id VARCHAR(36) NOT NULL, 
	position INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	value TEXT NOT NULL, 
	digest BLOB NOT NULL, 
	CONSTRAINT pk_certificate_request_metadata PRIMARY KEY (request_id, position), 
	CONSTRAINT fk_certificate_request_metadata_request_id_certificate_requests FOREIGN KEY(request_id) REFERENCES certificate_requests (id) ON DELETE CASCADE
);
CREATE TABLE certificate_requests (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	profile_id VARCHAR(36), 
	application_id VARCHAR(36), 
	authority_id VARCHAR(36), 
	certificate_id VARCHAR(36), 
	renews_id VARCHAR(36), 
	status VARCHAR(32) NOT NULL, 
	common_name TEXT, 
	alt_names TEXT, 
	asked JSON NOT NULL, 
	csr TEXT, 
	remove_roots_from_chain BOOLEAN NOT NULL, 
	requested_by VARCHAR(36), 
	requester_name TEXT NOT NULL, 
	error_message TEXT, 
	pending_message TEXT, 
	private_key BLOB, 
	order_state JSON, 
	attempt INTEGER NOT NULL, 
	due_at BIGINT, 
	claimed_by VARCHAR(36), 
	lease_ends_at BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificate_requests PRIMARY KEY (id), 
	CONSTRAINT fk_certificate_requests_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_certificate_requests_profile_id_certificate_profiles FOREIGN KEY(profile_id) REFERENCES certificate_profiles (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificate_requests_application_id_certificate_applications FOREIGN KEY(application_id) REFERENCES certificate_applications (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificate_requests_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificate_requests_certificate_id_certificates FOREIGN KEY(certificate_id) REFERENCES certificates (id) ON DELETE SET NULL
);
CREATE TABLE certificates (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	profile_id VARCHAR(36), 
	application_id VARCHAR(36), 
	subscriber_id VARCHAR(36), 
	authority_id VARCHAR(36), 
	authority_certificate_id VARCHAR(36), 
	serial_number VARCHAR(64) NOT NULL, 
	fingerprint VARCHAR(64) NOT NULL, 
	public_key_fingerprint VARCHAR(64) NOT NULL, 
	common_name TEXT NOT NULL, 
	alt_names TEXT NOT NULL, 
	friendly_name TEXT NOT NULL, 
	subject JSON NOT NULL, 
	key_usages JSON NOT NULL, 
	extended_key_usages JSON NOT NULL, 
	key_algorithm VARCHAR(32) NOT NULL, 
	signature_algorithm VARCHAR(32) NOT NULL, 
	is_ca BOOLEAN NOT NULL, 
	path_length INTEGER, 
	not_before BIGINT NOT NULL, 
	not_after BIGINT NOT NULL, 
	certificate TEXT NOT NULL, 
	chain TEXT NOT NULL, 
	is_revoked BOOLEAN NOT NULL, 
	revoked_at BIGINT, 
	revocation_reason VARCHAR(32), 
	renew_before_days INTEGER, 
	renew_at BIGINT, 
	renewed_from_id VARCHAR(36), 
	renewed_by_id VARCHAR(36), 
	private_key BLOB, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_certificates PRIMARY KEY (id), 
	CONSTRAINT fk_certificates_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_certificates_profile_id_certificate_profiles FOREIGN KEY(profile_id) REFERENCES certificate_profiles (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificates_application_id_certificate_applications FOREIGN KEY(application_id) REFERENCES certificate_applications (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificates_subscriber_id_pki_subscribers FOREIGN KEY(subscriber_id) REFERENCES pki_subscribers (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificates_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE SET NULL, 
	CONSTRAINT fk_certificates_authority_certificate_id_authority_certificates FOREIGN KEY(authority_certificate_id) REFERENCES authority_certificates (id) ON DELETE SET NULL
);
CREATE TABLE client_secrets (
	id VARCHAR(36) NOT NULL, 
	identity_id VARCHAR(36) NOT NULL, 
	description VARCHAR(1024) NOT NULL, 
	prefix VARCHAR(4) NOT NULL, 
	digest BLOB NOT NULL, 
	num_uses INTEGER NOT NULL, 
	num_uses_limit INTEGER NOT NULL, 
	ttl INTEGER NOT NULL, 
	revoked BOOLEAN NOT NULL, 
	last_used_at BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_client_secrets PRIMARY KEY (id), 
	CONSTRAINT fk_client_secrets_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE
);
INSERT INTO "client_secrets" VALUES('86cf39d9-0f4c-440c-a2a7-6c1a74004c31','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','made at the first start','b243',X'30809447B1F7C599E191B30A5B5524413B273E816AD72924982E97E5A25B1103',1,0,0,0,1795610181823,1795610181580,1795610181580);
CREATE TABLE data_keys (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	wrapped BLOB NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_data_keys PRIMARY KEY (id), 
	CONSTRAINT fk_data_keys_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_data_keys_project_id_version UNIQUE (project_id, version)
);
INSERT INTO "data_keys" VALUES('63c6e54a-c308-44f6-9c93-fb5a6f3bd67c','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea',1,X'017DBB61EB41EA0A1BDF57B42D57229DB0000000011B12A542FF0498843E8C0F58E4D5C2AB98AC9403A2406C9F69105D39861B5B378FF0DD237FF99D9F0552249E4A62057587541F29463D567A1EE22BED',1795610182199);
CREATE TABLE enrollments (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	profile_id VARCHAR(36) NOT NULL, 
	application_id VARCHAR(36), 
	kind VARCHAR(16) NOT NULL, 
	settings JSON NOT NULL, 
	secret BLOB, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_enrollments PRIMARY KEY (id), 
	CONSTRAINT fk_enrollments_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_enrollments_profile_id_certificate_profiles FOREIGN KEY(profile_id) REFERENCES certificate_profiles (id) ON DELETE CASCADE, 
	CONSTRAINT fk_enrollments_application_id_certificate_applications FOREIGN KEY(application_id) REFERENCES certificate_applications (id) ON DELETE CASCADE
);
CREATE TABLE environments (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	slug VARCHAR(64) NOT NULL, 
	position INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_environments PRIMARY KEY (id), 
	CONSTRAINT fk_environments_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_environments_project_id_slug UNIQUE (project_id, slug)
);
INSERT INTO "environments" VALUES('c0b97ab9-8ace-4dd6-b320-f71791e9939b','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','Development','dev',1,1795610182177,1795610182177);
INSERT INTO "environments" VALUES('a554e3e8-b1b5-4699-914a-47d10285c443','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','Staging','staging',2,1795610182177,1795610182177);
INSERT INTO "environments" VALUES('bdc1a1ea-6679-42f6-83cc-4a0eed271e96','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','Production','prod',3,1795610182177,1795610182177);
CREATE TABLE folders (
	id VARCHAR(36) NOT NULL, 
	environment_id VARCHAR(36) NOT NULL, 
	parent_id VARCHAR(36), 
	name VARCHAR(255) NOT NULL, 
	path TEXT NOT NULL, 
	description TEXT, 
	version INTEGER NOT NULL, 
	is_reserved BOOLEAN NOT NULL, 
	last_secret_modified BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_folders PRIMARY KEY (id), 
	CONSTRAINT fk_folders_environment_id_environments FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE, 
	CONSTRAINT fk_folders_parent_id_folders FOREIGN KEY(parent_id) REFERENCES folders (id) ON DELETE CASCADE, 
	CONSTRAINT uq_folders_environment_id_path UNIQUE (environment_id, path)
);
INSERT INTO "folders" VALUES('ffab90a6-f80c-472c-8b75-72ca1c56e71e','c0b97ab9-8ace-4dd6-b320-f71791e9939b',NULL,'root','/',NULL,1,0,NULL,1795610182177,1795610182177);
INSERT INTO "folders" VALUES('91da7c45-8318-4ec8-818b-d16665855b94','a554e3e8-b1b5-4699-914a-47d10285c443',NULL,'root','/',NULL,1,0,NULL,1795610182177,1795610182177);
INSERT INTO "folders" VALUES('3a98a743-942a-440e-81df-a85840a0bb80','bdc1a1ea-6679-42f6-83cc-4a0eed271e96',NULL,'root','/',NULL,1,0,NULL,1795610182177,1795610182177);
INSERT INTO "folders" VALUES('430b359b-a6f1-4cf5-81da-bb037e567922','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','gitlab','/gitlab',NULL,1,0,1795610187213,1795610182262,1795610182262);
INSERT INTO "folders" VALUES('d51dad6c-0890-437f-a9d6-80735084d972','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','gitlab-hidden','/gitlab-hidden',NULL,1,0,1795610187347,1795610182637,1795610182637);
INSERT INTO "folders" VALUES('3979601a-9dd7-4281-babe-444a0a5d42ee','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','codehost','/codehost',NULL,1,0,1795610187489,1795610182912,1795610182912);
INSERT INTO "folders" VALUES('f1315ef1-8440-406b-adc7-b30d362e64ef','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','azure','/azure',NULL,1,0,1795610187690,1795610183137,1795610183137);
INSERT INTO "folders" VALUES('bc41bc9f-5954-4464-9a57-2716216dc337','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','gcp','/gcp',NULL,1,0,1795610187852,1795610183372,1795610183372);
INSERT INTO "folders" VALUES('ffdfedd5-e1f9-4f2d-ab08-80fac3485159','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','parameters','/parameters',NULL,1,0,1795610188140,1795610184341,1795610184341);
INSERT INTO "folders" VALUES('97da7280-f69c-4bfa-b076-77c15bd92a4f','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','secrets','/secrets',NULL,1,0,1795610188388,1795610184838,1795610184838);
INSERT INTO "folders" VALUES('706f68c5-0e02-4a4a-a1e8-cea7ee11425e','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','many','/many',NULL,1,0,1795610188565,1795610185390,1795610185390);
INSERT INTO "folders" VALUES('53fbad6a-026f-401e-9e67-421dda95c828','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','vault','/vault',NULL,1,0,1795610188693,1795610186032,1795610186032);
INSERT INTO "folders" VALUES('a5539143-4f6c-4db5-8006-ed7a87ad852f','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','other','/other',NULL,1,0,1795610188798,1795610186372,1795610186372);
INSERT INTO "folders" VALUES('61966e0e-c94f-4539-b840-ee9b31e53fd8','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','stuck','/stuck',NULL,1,0,1795610189011,1795610188933,1795610188933);
INSERT INTO "folders" VALUES('94adb655-e9d4-423c-8919-1e4e41163f98','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','failed','/failed',NULL,1,0,1795610189363,1795610189270,1795610189270);
INSERT INTO "folders" VALUES('4a7a4398-7880-4d6a-a87f-73112665f9eb','c0b97ab9-8ace-4dd6-b320-f71791e9939b','ffab90a6-f80c-472c-8b75-72ca1c56e71e','killed','/killed',NULL,1,0,1795610193299,1795610193111,1795610193111);
CREATE TABLE identities (
	id VARCHAR(36) NOT NULL, 
	organization_id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	role VARCHAR(64) NOT NULL, 
	permission_revision INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, kind VARCHAR(16) DEFAULT 'machine' NOT NULL, 
	CONSTRAINT pk_identities PRIMARY KEY (id), 
	CONSTRAINT fk_identities_organization_id_organizations FOREIGN KEY(organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
INSERT INTO "identities" VALUES('07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','e6bba4cf-404f-4748-a709-4e388b3abe4e','admin','admin',1795610182203917,1795610181563,1795610181563,'machine');
INSERT INTO "identities" VALUES('a78b3016-97d4-4d85-8dd0-11d78b87aa35','e6bba4cf-404f-4748-a709-4e388b3abe4e','old@example.com','admin',1,1795610182143,1795610182143,'user');
CREATE TABLE key_holders (
	process_id VARCHAR(36) NOT NULL, 
	root_key_id VARCHAR(36) NOT NULL, 
	seen_at BIGINT NOT NULL, 
	CONSTRAINT pk_key_holders PRIMARY KEY (process_id, root_key_id)
);
INSERT INTO "key_holders" VALUES('fd25bf1b-a4d7-4f60-9050-856190be1959','7dbb61eb-41ea-0a1b-df57-b42d57229db0',1795610181537);
CREATE TABLE key_rotations (
	project_id VARCHAR(36) NOT NULL, 
	phase VARCHAR(16) NOT NULL, 
	"after" VARCHAR(64) NOT NULL, 
	resealed INTEGER NOT NULL, 
	started_at BIGINT NOT NULL, 
	CONSTRAINT pk_key_rotations PRIMARY KEY (project_id), 
	CONSTRAINT fk_key_rotations_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE TABLE kubernetes_auths (
	identity_id VARCHAR(36) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	host VARCHAR(2048) NOT NULL, 
	ca_pem TEXT NOT NULL, 
	reviewer_token BLOB, 
	allowed_namespaces TEXT NOT NULL, 
	allowed_names TEXT NOT NULL, 
	allowed_audience VARCHAR(512) NOT NULL, 
	access_token_ttl INTEGER NOT NULL, 
	access_token_max_ttl INTEGER NOT NULL, 
	access_token_num_uses_limit INTEGER NOT NULL, 
	access_token_period INTEGER NOT NULL, 
	access_token_trusted_ips JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_kubernetes_auths PRIMARY KEY (identity_id), 
	CONSTRAINT fk_kubernetes_auths_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE
);
CREATE TABLE ldap_auths (
	identity_id VARCHAR(36) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	url VARCHAR(2048) NOT NULL, 
	bind_dn VARCHAR(1024) NOT NULL, 
	bind_password BLOB NOT NULL, 
	search_base VARCHAR(1024) NOT NULL, 
	search_filter TEXT NOT NULL, 
	ca_pem TEXT NOT NULL, 
	allowed_fields JSON NOT NULL, 
	lockout_enabled BOOLEAN NOT NULL, 
	lockout_threshold INTEGER NOT NULL, 
	lockout_duration_seconds INTEGER NOT NULL, 
	lockout_counter_reset_seconds INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	last_failure_at BIGINT, 
	locked_until BIGINT, 
	access_token_ttl INTEGER NOT NULL, 
	access_token_max_ttl INTEGER NOT NULL, 
	access_token_num_uses_limit INTEGER NOT NULL, 
	access_token_period INTEGER NOT NULL, 
	access_token_trusted_ips JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_ldap_auths PRIMARY KEY (identity_id), 
	CONSTRAINT fk_ldap_auths_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE
);
CREATE TABLE login_failures (
	digest BLOB NOT NULL, 
	failures INTEGER NOT NULL, 
	last_failure_at BIGINT, 
	locked_until BIGINT, 
	expires_at BIGINT NOT NULL, 
	CONSTRAINT pk_login_failures PRIMARY KEY (digest)
);
CREATE TABLE organizations (
	id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	slug VARCHAR(64) NOT NULL, 
	names_revision INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_organizations PRIMARY KEY (id), 
	CONSTRAINT uq_organizations_slug UNIQUE (slug)
);
INSERT INTO "organizations" VALUES('e6bba4cf-404f-4748-a709-4e388b3abe4e','Keybearer','keybearer',1795610182181461,1795610181563);
CREATE TABLE pki_subscribers (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	authority_id VARCHAR(36), 
	name VARCHAR(64) NOT NULL, 
	common_name TEXT NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	ttl VARCHAR(32) NOT NULL, 
	subject_alternative_names JSON NOT NULL, 
	key_usages JSON NOT NULL, 
	extended_key_usages JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_pki_subscribers PRIMARY KEY (id), 
	CONSTRAINT fk_pki_subscribers_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_pki_subscribers_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE SET NULL, 
	CONSTRAINT uq_pki_subscribers_project_id_name UNIQUE (project_id, name)
);
CREATE TABLE project_grants (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	identity_id VARCHAR(36) NOT NULL, 
	effect VARCHAR(8) NOT NULL, 
	subjects JSON NOT NULL, 
	actions JSON NOT NULL, 
	environment VARCHAR(64) NOT NULL, 
	secret_path TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_project_grants PRIMARY KEY (id), 
	CONSTRAINT fk_project_grants_project_id_project_memberships FOREIGN KEY(project_id, identity_id) REFERENCES project_memberships (project_id, identity_id) ON DELETE CASCADE
);
CREATE TABLE project_memberships (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	identity_id VARCHAR(36) NOT NULL, 
	roles JSON NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_project_memberships PRIMARY KEY (id), 
	CONSTRAINT fk_project_memberships_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE, 
	CONSTRAINT fk_project_memberships_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_project_memberships_project_id_identity_id UNIQUE (project_id, identity_id)
);
INSERT INTO "project_memberships" VALUES('6ec661c8-a155-4be3-95a2-25600e6b367a','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','["admin"]',1795610182201,1795610182201);
CREATE TABLE projects (
	id VARCHAR(36) NOT NULL, 
	organization_id VARCHAR(36) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	slug VARCHAR(36) NOT NULL, 
	description TEXT, 
	type VARCHAR(32) NOT NULL, 
	auto_capitalization BOOLEAN NOT NULL, 
	has_delete_protection BOOLEAN NOT NULL, 
	revision INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_projects PRIMARY KEY (id), 
	CONSTRAINT fk_projects_organization_id_organizations FOREIGN KEY(organization_id) REFERENCES organizations (id) ON DELETE CASCADE, 
	CONSTRAINT uq_projects_organization_id_slug UNIQUE (organization_id, slug)
);
INSERT INTO "projects" VALUES('c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','e6bba4cf-404f-4748-a709-4e388b3abe4e','shop','shop-of-old',NULL,'secret-manager',0,0,1795610193294138,1795610182177,1795610182177);
CREATE TABLE revocation_lists (
	authority_id VARCHAR(36) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	number BIGINT NOT NULL, 
	this_update BIGINT NOT NULL, 
	next_update BIGINT NOT NULL, 
	is_stale BOOLEAN NOT NULL, 
	der BLOB NOT NULL, 
	CONSTRAINT pk_revocation_lists PRIMARY KEY (authority_id), 
	CONSTRAINT fk_revocation_lists_authority_id_certificate_authorities FOREIGN KEY(authority_id) REFERENCES certificate_authorities (id) ON DELETE CASCADE
);
CREATE TABLE root_keys (
	id VARCHAR(36) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	activated_at BIGINT NOT NULL, 
	retired_at BIGINT, 
	CONSTRAINT pk_root_keys PRIMARY KEY (id)
);
INSERT INTO "root_keys" VALUES('7dbb61eb-41ea-0a1b-df57-b42d57229db0','active',1795610181252,NULL);
CREATE TABLE secret_imports (
	id VARCHAR(36) NOT NULL, 
	folder_id VARCHAR(36) NOT NULL, 
	environment_id VARCHAR(36) NOT NULL, 
	path TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	is_replication BOOLEAN NOT NULL, 
	version INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_secret_imports PRIMARY KEY (id), 
	CONSTRAINT fk_secret_imports_folder_id_folders FOREIGN KEY(folder_id) REFERENCES folders (id) ON DELETE CASCADE, 
	CONSTRAINT fk_secret_imports_environment_id_environments FOREIGN KEY(environment_id) REFERENCES environments (id) ON DELETE CASCADE
);
CREATE TABLE secret_references (
	secret_id VARCHAR(36) NOT NULL, 
	folder VARCHAR(32) NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	CONSTRAINT pk_secret_references PRIMARY KEY (secret_id, folder, "key"), 
	CONSTRAINT fk_secret_references_secret_id_secrets FOREIGN KEY(secret_id) REFERENCES secrets (id) ON DELETE CASCADE
);
CREATE TABLE secret_syncs (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	folder_id VARCHAR(36), 
	connection_id VARCHAR(36) NOT NULL, 
	name VARCHAR(256) NOT NULL, 
	description TEXT, 
	is_auto_sync_enabled BOOLEAN NOT NULL, 
	version INTEGER NOT NULL, 
	destination VARCHAR(64) NOT NULL, 
	destination_config JSON NOT NULL, 
	destination_digest VARCHAR(64) NOT NULL, 
	sync_options JSON NOT NULL, 
	sync_status VARCHAR(16), 
	last_sync_job_id VARCHAR(36), 
	last_sync_message TEXT, 
	last_synced_at BIGINT, 
	import_status VARCHAR(16), 
	last_import_job_id VARCHAR(36), 
	last_import_message TEXT, 
	last_imported_at BIGINT, 
	remove_status VARCHAR(16), 
	last_remove_job_id VARCHAR(36), 
	last_remove_message TEXT, 
	last_removed_at BIGINT, 
	source_digest BLOB, 
	reached JSON, 
	is_settled BOOLEAN NOT NULL, 
	listed_at BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_secret_syncs PRIMARY KEY (id), 
	CONSTRAINT fk_secret_syncs_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT fk_secret_syncs_folder_id_folders FOREIGN KEY(folder_id) REFERENCES folders (id) ON DELETE SET NULL, 
	CONSTRAINT fk_secret_syncs_connection_id_app_connections FOREIGN KEY(connection_id) REFERENCES app_connections (id), 
	CONSTRAINT uq_secret_syncs_project_id_name UNIQUE (project_id, name)
);
INSERT INTO "secret_syncs" VALUES('73620e3c-1b2e-4deb-ba86-9cbd7e057da9','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','430b359b-a6f1-4cf5-81da-bb037e567922','48c3e8d7-8b8e-46f2-93eb-3e91fdaee197','gitlab',NULL,1,3,'gitlab','{"targetEnvironment": "*", "shouldProtectSecrets": false, "shouldMaskSecrets": false, "shouldHideSecrets": false, "scope": "project", "projectId": "acme/shop"}','4f1da9596494295479b2c3fad2a2f41a5350f590b11d0ea668cc99489a819b9b','{"initialSyncBehavior": "overwrite-destination", "keySchema": "APP_{{secretKey}}"}','succeeded','73402fdd-4e88-4aff-b708-063667fb943f',NULL,1795610187295,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'84F6CBC5EDF9AE131FA8990117C1FD160F9DD5A9E7EDDA5CB5EE107572A4532B','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610187209858}',1,1795610187171,1795610182575,1795610187131);
INSERT INTO "secret_syncs" VALUES('3f9ad5e5-b030-4899-9206-c261a3e5e24b','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','d51dad6c-0890-437f-a9d6-80735084d972','28e26a37-b6b8-4597-ac59-c89e64537aca','gitlab-hidden',NULL,1,1,'gitlab','{"targetEnvironment": "*", "shouldProtectSecrets": false, "shouldMaskSecrets": true, "shouldHideSecrets": true, "scope": "group", "groupId": "acme"}','2f0649b8ac0a0361bef04af21ca1b800473ea4dfdccf4a97794b3c9eef08c790','{"initialSyncBehavior": "overwrite-destination"}','succeeded','2a33aa23-a91d-4819-8272-467f049a253d',NULL,1795610187433,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'68408186377D9549EFC286F57E3F02FC8D4987C3E91A44CFE88AF1CFF6D6C910','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610187346277}',1,1795610182980,1795610182887,1795610182887);
INSERT INTO "secret_syncs" VALUES('4b4c23db-1a7a-4e8f-a91c-46cf2c0b6ece','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','3979601a-9dd7-4281-babe-444a0a5d42ee','3fabffb2-5535-4671-b7ee-d38aa70818e0','codehost',NULL,1,1,'codehost','{"scope": "repository", "owner": "acme", "repo": "shop"}','415d3271a0d2c5d8c51be34486aa82befba3542ef03b14ac5dd872f83020754a','{"initialSyncBehavior": "overwrite-destination"}','succeeded','8b19ad8a-2409-48cf-8401-5be53fbfcc9b',NULL,1795610187636,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'6C58BD7E957EEAA832234545517BC6F089171F52BB8F4600C4179A211B04D091','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610187486697}',1,1795610183142,1795610183104,1795610183104);
INSERT INTO "secret_syncs" VALUES('a0afb5e6-816e-4324-89f7-c3e3dccdec80','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','f1315ef1-8440-406b-adc7-b30d362e64ef','3009fbb3-33a9-4f4e-aa80-4445b1466e92','azure',NULL,1,1,'azure-key-vault','{"vaultBaseUrl": "http://127.0.0.1:45395"}','b65fe9b3503375b446f8cda33e7f322011fcd74c61276bd9aa444b30090d990a','{"initialSyncBehavior": "overwrite-destination"}','succeeded','853101ef-8418-4037-b4eb-c4f41ccd10c2',NULL,1795610187796,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'9E4AFB8B62BCB1D0829DD0B41F60F0292DCB1ACCBED03C909C2C652DAFF8236C','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610187688993}',1,1795610183502,1795610183334,1795610183334);
INSERT INTO "secret_syncs" VALUES('98872540-6e10-4115-bf49-f221764b0a26','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','bc41bc9f-5954-4464-9a57-2716216dc337','2d34ef22-6741-4fcf-b699-a6b28763c295','gcp',NULL,1,1,'gcp-secret-manager','{"scope": "global", "projectId": "shop"}','6b54e6f7d0dfc45fb3b13d19be15b1cb8ff74f7741cf43040949ed26c631c59b','{"initialSyncBehavior": "overwrite-destination"}','succeeded','16ac978e-49b9-4480-95da-671a4cc039fd',NULL,1795610188102,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'6EE9E608AC5EA9A3785B8D21209F45F381189DD751F6399EC1D9550761C6C615','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610187842124}',1,1795610184550,1795610184273,1795610184273);
INSERT INTO "secret_syncs" VALUES('fa9fed12-88f6-46f6-afc6-a5e4be3d951f','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','ffdfedd5-e1f9-4f2d-ab08-80fac3485159','de8b7629-4a91-42d5-819f-b15d0dca7bc8','parameters',NULL,1,1,'cloud-parameter-store','{"region": "eu-west-1", "path": "/shop/"}','a0da3a44f492fa221f8f1845ac941747b6452e9d93562fea84d9878748425c11','{"initialSyncBehavior": "overwrite-destination", "tags": [{"key": "team", "value": "shop"}]}','succeeded','ca4dd5c5-f401-4726-b367-9c458b6aca0c',NULL,1795610188339,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'0AA495E86AE624E3164204A0375ED4258853190966A1CF5E9A9835BC49DD90B6','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610188138740}',1,1795610184843,1795610184806,1795610184806);
INSERT INTO "secret_syncs" VALUES('7785079e-b7eb-491d-99aa-5b13e7c78faf','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','97da7280-f69c-4bfa-b076-77c15bd92a4f','0b7a423f-804d-46b0-bc42-92c3fea31cdc','secrets',NULL,1,1,'cloud-secrets-manager','{"region": "eu-west-1", "mappingBehavior": "one-to-one"}','b998592da60c70c9dccf06ceba5ba643eb9a3a5680eaae7e274b6e39160e8193','{"initialSyncBehavior": "overwrite-destination", "keySchema": "one-{{secretKey}}"}','succeeded','ff7213ad-76c2-4cdd-b9e1-4ce139dc097a',NULL,1795610188547,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'78879E9888056EB06FEBD89B5A318FA50AD4AED4760100D1ADF7B0F8FEF0D9E7','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610188386090}',1,1795610185594,1795610185280,1795610185280);
INSERT INTO "secret_syncs" VALUES('09f1dc2e-a15c-4bab-a82b-23a3aeb2b750','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','706f68c5-0e02-4a4a-a1e8-cea7ee11425e','50086564-0255-46a3-9da3-07a650b885f6','many',NULL,1,1,'cloud-secrets-manager','{"region": "eu-west-1", "mappingBehavior": "many-to-one", "secretName": "shop-of-many-keys"}','0dc405dfafd3c6b5b90ba4ac2a5989d153a7827ab3d7171656fb954222f0a824','{"initialSyncBehavior": "overwrite-destination"}','succeeded','ba7c1e14-ae81-462f-9f15-5cb1a7d4534d',NULL,1795610188660,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'A16D80B6E1DD4CF86A0C578298D81BCCC9FC6B6799DFD73920944BB511D707E7','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610188563941}',1,1795610186128,1795610185972,1795610185972);
INSERT INTO "secret_syncs" VALUES('7ded51bc-6611-40e1-be05-d0d71434309a','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','53fbad6a-026f-401e-9e67-421dda95c828','4e605155-5b4c-4609-9644-2a1911893451','vault',NULL,1,1,'hashicorp-vault','{"mount": "shop", "path": "app"}','4ac6ea638353ec9f7a547455ae08b1afbc45b5f2552c6b6dbf8177e54443f035','{"initialSyncBehavior": "overwrite-destination"}','succeeded','2f6da7a4-d398-482e-bffd-43b304005de9',NULL,1795610188771,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'00391D75E398BA673AA7BDB076CD40DDE2EE7D8BD110F2AF4C17FD0758B89979','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610188684931}',1,1795610186390,1795610186342,1795610186342);
INSERT INTO "secret_syncs" VALUES('3796bb61-6734-47c0-a643-ec5b35eb5247','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','a5539143-4f6c-4db5-8006-ed7a87ad852f','9c6cb9b9-0e8e-4d38-a894-9937de99568c','other',NULL,1,1,'external-infisical','{"projectId": "f6ce03a3-9502-4ebe-a56a-fe6b651ccd89", "environment": "dev", "secretPath": "/app"}','f00cba22e44bd70e247819d76fca82855f9b0e1bed596bcbc79feb49c716bd57','{"initialSyncBehavior": "overwrite-destination"}','succeeded','3be76547-054d-4783-8b2c-5c10e2982a12',NULL,1795610188877,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'444E348A371ACC463297C26727E4BD554273F6BF9DD20919685BEED004F4EE2C','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610188797432}',1,1795610186780,1795610186664,1795610186664);
INSERT INTO "secret_syncs" VALUES('4b6652e2-eef6-4e20-a600-d6d6bb1710b5','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','61966e0e-c94f-4539-b840-ee9b31e53fd8','fcd2f23d-7e76-46ea-ad8f-76412ac945cf','stuck',NULL,1,1,'gitlab','{"targetEnvironment": "*", "shouldProtectSecrets": false, "shouldMaskSecrets": false, "shouldHideSecrets": false, "scope": "project", "projectId": "acme/stuck"}','36248be17e6c1308962ce0c11d522bfdb7a3a62aad99530cb109834aeae7a0ce','{"initialSyncBehavior": "overwrite-destination"}','failed','ef09eb73-17b2-43ed-afc9-1816479e53dd','GitLab answers 502 when asked to list the variables of the project ''acme/stuck''',1795610189227,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'A1F95CAFA4EEA6E390137D1B76D94F5510C34A9B75FC1A38AEA76671B1AEA007','{"c407b1e5-3d4d-4d04-8c46-ea44e274b8ea": 1795610188979236}',0,NULL,1795610189064,1795610189064);
INSERT INTO "secret_syncs" VALUES('a0e3cedb-17b8-4559-b01c-82f0c7937fb8','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','94adb655-e9d4-423c-8919-1e4e41163f98','5e734415-89eb-41b1-a646-0c1efeeb29ec','failed',NULL,1,1,'gitlab','{"targetEnvironment": "*", "shouldProtectSecrets": false, "shouldMaskSecrets": false, "shouldHideSecrets": false, "scope": "project", "projectId": "acme/failed"}','e0bb9b438baf289abe7e7f905417217413c22a9b31b35fc873aed3201b6db847','{"initialSyncBehavior": "overwrite-destination"}','failed','e00dd9ed-99b1-4f8f-9d31-352e67e444ab','GitLab answers 502 when asked to list the variables of the project ''acme/failed''',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'null',0,NULL,1795610189402,1795610189402);
INSERT INTO "secret_syncs" VALUES('9622f5d0-a3ab-4afa-adda-6eb19c005be7','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','4a7a4398-7880-4d6a-a87f-73112665f9eb','ebf2f377-449a-4912-af96-d4aa8507180d','killed',NULL,1,1,'codehost','{"scope": "repository", "owner": "acme", "repo": "killed"}','06d312125f4a0db3514b9b75dc6d5f45628d35adb44d17d0ea6dd358da96e448','{"initialSyncBehavior": "overwrite-destination"}','running','54c45a2a-720a-47bf-871f-86239d6020b6',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'null',0,NULL,1795610193343,1795610193343);
CREATE TABLE secret_tags (
	secret_id VARCHAR(36) NOT NULL, 
	tag_id VARCHAR(36) NOT NULL, 
	CONSTRAINT pk_secret_tags PRIMARY KEY (secret_id, tag_id), 
	CONSTRAINT fk_secret_tags_secret_id_secrets FOREIGN KEY(secret_id) REFERENCES secrets (id) ON DELETE CASCADE, 
	CONSTRAINT fk_secret_tags_tag_id_tags FOREIGN KEY(tag_id) REFERENCES tags (id) ON DELETE CASCADE
);
CREATE TABLE secret_versions (
	secret_id VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	value BLOB NOT NULL, 
	details BLOB, 
	skip_multiline_encoding BOOLEAN, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_secret_versions PRIMARY KEY (secret_id, version), 
	CONSTRAINT fk_secret_versions_secret_id_secrets FOREIGN KEY(secret_id) REFERENCES secrets (id) ON DELETE CASCADE
);
INSERT INTO "secret_versions" VALUES('136bd8ef-f208-4a32-9959-68acf5ef836d',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001646065349F945BBF46ED7A5C71E4EF0CDCC445E36AFFFA9DF1184007695D588BCC5EBA2782253243FDD7DBCF9C',NULL,NULL,1795610182288);
INSERT INTO "secret_versions" VALUES('7d25435b-12a3-4e2e-a1aa-73371b0d9ad4',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000151E4DB266046382118DD13569C9DED4A5D4ED576DFF7671526EE760540E80FF6451AB342ED1738A03CFE1013',NULL,NULL,1795610182328);
INSERT INTO "secret_versions" VALUES('aac4c35d-b184-4f2a-bb86-d4dc24bd9294',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001336C7452A42210B61546F33A84BC789B3E579FAA1ECF2C5AD193C2CDCFF74222FC1C5D2124CB57DCDE6CF3ADC74232',NULL,NULL,1795610182344);
INSERT INTO "secret_versions" VALUES('ae1bd41b-a506-4d4a-813d-f58f9a58dd7b',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001B4A4CB59666018B5D4EA61DDB8D9692B1505B8266ED076B7BA04558DDFCAE2EFCB8A157FB87A836A0A94819DC2A865D6E77E3EBE726A07ABBEA2A84ED8',NULL,NULL,1795610182357);
INSERT INTO "secret_versions" VALUES('753f8b61-2172-4e64-bd5a-1d7a9ca9c70e',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000011FCDAB6D4B1CB1E178E99F2D231E47C84A78FDFC3F75D372969940077500E48158FF8F6376D6C5AD7FAE524E4BAC2D2E03B13F1B',NULL,NULL,1795610182716);
INSERT INTO "secret_versions" VALUES('2aa93a83-5d1e-46af-a75e-11f7578f5033',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000166424AAFF8475BDEABCED5323BBC1FBFF0D7025A7D8A8449EB610626CF5D5189F430B541298010352EF67FCAB252F07311B5DC',NULL,NULL,1795610182742);
INSERT INTO "secret_versions" VALUES('746c3420-fa78-4355-9a7e-e43bc8d1fc73',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001D3D17FC4319AA730A33E5311A91C85A5DC9F54F546430FE484E582F4D8EEDF2E5E3AF77C36840763957FC1D6BB06DB20E385DBDE684C',NULL,NULL,1795610182799);
INSERT INTO "secret_versions" VALUES('3f72cafd-80df-4dbb-bb80-eb56acf77519',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000012B5921B5C631DCB9D90BF9545B6382B5B6CD0375921C49F4FCF8002667582EF26F763B17D5C86827291AA1BD346EE595445DD3',NULL,NULL,1795610182813);
INSERT INTO "secret_versions" VALUES('393b9508-a3d4-49c0-84de-a2af5f393e7c',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000130363B4C3AEC9D3E4115BC2284B2AB106C14921B63C62284A776F752E318F39080A79A0D6BF92CAE804BCFF8EA321C',NULL,NULL,1795610182963);
INSERT INTO "secret_versions" VALUES('982440b9-aeff-476c-ba26-62b102350ddc',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001160DB5BF5DDC85115C04B2C76F140173F65509FCCCC065DC2D27F925D445A121221F12D85F44ECAD03C1C092E104',NULL,NULL,1795610182997);
INSERT INTO "secret_versions" VALUES('447e3328-6db2-4898-880c-dddafd607aca',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001D4322001C30178BCECE62CEBE4963F7B502501E5E925DD1F3BFD76E1B26F3B1DDE85FEC5C293ED61668A4AF49E99CB5258',NULL,NULL,1795610183037);
INSERT INTO "secret_versions" VALUES('53681cb9-a392-473c-88eb-a39767c401e2',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000129874339733AC244EBB55CBF91712291F7B8C957D6113E76243FFFA3601F68BD3BC0BCAD4BFD1227E0F02C08ED842A45FC9761D3660773A9379671143164C5',NULL,NULL,1795610183054);
INSERT INTO "secret_versions" VALUES('e0da1403-7f11-4e79-9f3c-d9cbf2f8f191',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001201416BC8888BF1EE957BBAE876716D08638BE396D3C559924F55D4AB26C6CBF8EA72FCD7315C33FBA48265D',NULL,NULL,1795610183171);
INSERT INTO "secret_versions" VALUES('b29c47d4-d6e9-4ffa-add6-268eccfaa308',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A254572F4C7121C037A5F1C72AA71F17D4439786B87E221767C2C577881D30853DD1592F79EF9F663100C4',NULL,NULL,1795610183214);
INSERT INTO "secret_versions" VALUES('90185af0-e9ac-4dfe-865e-b147684b89e8',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001D39EE6190B842AB611F0438BED6407806E7B9139F2994875987FEC7676B12CB0EFED1CFDCC90E7183179722F7C37',NULL,NULL,1795610183233);
INSERT INTO "secret_versions" VALUES('eb76cded-79d0-401a-a79f-ef5bc4929764',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000189CA11E2A019097C2915572E55C81D19C6CEC4FCB1C23B5B7466422DE05F146FD19C045B333DCA77EA59E325E96362D7E69EBCF565AA6DDEF6DB7392',NULL,NULL,1795610183251);
INSERT INTO "secret_versions" VALUES('3e68fb80-8b18-4f25-b407-cf8fa64d3214',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000129A4B23825B8DA6F5C0289485F926FC600C3706352D8B45A8089F1F1BA30CF5797CA002AFC0CF95A94E8',NULL,NULL,1795610183395);
INSERT INTO "secret_versions" VALUES('8f93ccf4-65e8-435f-85ff-09c9b15fa2ca',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001F8F99D4A9D7C71FDF50E92F525C3F43EDD0E0C43201BE7E3ECD13D58F253D46D33A5A07E63EE35DC62',NULL,NULL,1795610183499);
INSERT INTO "secret_versions" VALUES('0868cb98-8517-42b2-8e91-3f43e22b43b7',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A54409B812522F038507B2670F186B1C9EE6837BD6BDA20ADD8A12AF7D9E6FFF7A89E6CBACC6A75D7FC69B35',NULL,NULL,1795610183603);
INSERT INTO "secret_versions" VALUES('d56ef91b-29ab-4315-9956-ddc5bf5e9579',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000156D3CA6419923304F23265430F82F171DD072194DE834A6E6A300917AAEBD09DDF76D1BAA824D85B27320DAA47E7BF71D21F37C5441B117B774F',NULL,NULL,1795610183802);
INSERT INTO "secret_versions" VALUES('eedb1680-0ab5-4e1f-b1e1-39db63fea03d',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000016D130B118E384B8AF0D31F23B41624A5AB8FFC74E15EE5672B9D6B2F9B92FC60FD880F0ECE6A27F821CB7ADC674D48AE16',NULL,NULL,1795610184533);
INSERT INTO "secret_versions" VALUES('d581f384-30aa-4de8-86f5-1afd5e251433',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001CFBE79137E4BF70E8381A2D78A14C6518198EDC1E3885A3A4F58FB01DE298AB47145F3D69C615EE1BE41991F757A30E2',NULL,NULL,1795610184583);
INSERT INTO "secret_versions" VALUES('a4be7222-e291-4ae9-9192-274b94e75361',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001BF420DDE8CEFD2CC49B27E48C5586162F97E93A0CE5F01876981A5370F6F04BC253DCA8FF45B88504FB7619ACC5E9FE1DC90B6',NULL,NULL,1795610184632);
INSERT INTO "secret_versions" VALUES('1e11cdad-4e95-4406-a112-eece29f50e0f',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001649F90D917BC010B8D17E42C96C5F7223D09F2B0CB71A087CF8C5A1F2E8C1929609AB62AA11E5C28BFF8A8FC42F20B81A633AEE8E3AC6811E976A983CD5CCEF937',NULL,NULL,1795610184675);
INSERT INTO "secret_versions" VALUES('e885ef79-612f-46f2-8196-4c12f2d51915',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000018736B1D6049CAA0787161D81E975632A16253802EA5A44A555135BFEB3081F43175FF1A8F373E42E7C1A041D3D62',NULL,NULL,1795610184873);
INSERT INTO "secret_versions" VALUES('2639acaa-3ca5-477d-8c95-af6fc7ca1ab6',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000014A9DA7B5390AA7CD25C6B1BA0B0F75F9CABCB4C7DD3B597AE36E14237556D77A840DD46E1B609DCC411D022C01',NULL,NULL,1795610184887);
INSERT INTO "secret_versions" VALUES('431f1815-3f07-44dc-9557-d177c4f71985',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A4C51F55272CFA87E6D219097ED1843BCF91B634CC0F88DE9ACEFB02C901547AB7C9BEBA7538A0CADFAFC15B3CAFB77B',NULL,NULL,1795610184911);
INSERT INTO "secret_versions" VALUES('c8ba5726-7f9d-44e2-ae89-8b59fb57f790',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001164F2FE71D8627F33FA07E2A8A40123DD4A1EBCF520A06C716138FF31F9D820377DFC3C86AE113DC3EED622D5D6995701981C8FA7CC3D30AF7560B7DDBB2',NULL,NULL,1795610184935);
INSERT INTO "secret_versions" VALUES('1ad7ee4c-8619-44b4-a8da-dc853f6981ea',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001076FB064357AB5F0DE83FA02AAB71B9DF0169D7CBB13F1545D4C400A46520A21E3AC6173254780A64F98BD',NULL,NULL,1795610185574);
INSERT INTO "secret_versions" VALUES('a1d36c05-fbf8-4bc3-91eb-4ea4df0c9663',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001B3FAA7654ABAE1A450063929A8024525AB22EC5C7E3E3156E6FE495CB583C5962317828910762102F40C',NULL,NULL,1795610185664);
INSERT INTO "secret_versions" VALUES('43de2b1d-93b9-44ac-8b75-d1b2fc5855e7',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001E08CE248F509F40BDAAA8911ADE876C7FD5AB93E4925B97665AF728DCA479B36E914B93071ECF74669789813B3',NULL,NULL,1795610185775);
INSERT INTO "secret_versions" VALUES('3898d4a7-9ecb-4509-a0d3-d23d20eed1d4',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000178DB26F13B44792E7698BC5EDD6A65B08F9C7738ECEC161DA6057BFEDAB8C39F6E7E3080DAD78F73D5B7C077052B2FA5090997B9AFCAFF86BB22C2',NULL,NULL,1795610185821);
INSERT INTO "secret_versions" VALUES('b47dce66-d318-4e3f-9438-933ef372f0f8',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000011F026991109A9A2781FC20EC1142D4095F535404887985E4644C445246141C5DD49B1C410113A37370C4EE7A',NULL,NULL,1795610186110);
INSERT INTO "secret_versions" VALUES('f7813c6e-bd09-4180-abe9-cd7de545cbff',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001D418ADDBA3DB651F16FE3EED4FA4EA07F3025322AE9DDB07592E46E0FBD09E81E0279751F03E949D3F5FA6',NULL,NULL,1795610186174);
INSERT INTO "secret_versions" VALUES('794d0e6a-3611-4491-acfa-b9a5f054f765',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000019BA61A472E01022FD3D9ADF1091BE79CEE40AFB69D6EF2B7DD0F6936963CF5E6F2C9EC92FCF798A1937C0097C12A',NULL,NULL,1795610186247);
INSERT INTO "secret_versions" VALUES('44e7b666-798f-4453-b84f-646a694c0bdd',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001D6EEA12AFF2140F8661084F436AF5A0E31D762E14EF4AFFA60F3F011C4372CA4575174D91E9EE3B5A44C9885C50EEBB247E3653E2DE953695B76FD9D',NULL,NULL,1795610186272);
INSERT INTO "secret_versions" VALUES('b18af465-cfb9-4ddc-9bf8-09a8732d9bf0',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000125B130C9FD81A42B42C5B197E7231C8D88436C3F078E68D83CBB7A685EF6DD22832DEFC79B70FA80E91A28B1',NULL,NULL,1795610186400);
INSERT INTO "secret_versions" VALUES('9fc1188c-7279-42de-a0e1-5fa80b1b9f78',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000105CE04C867965C91B89FB921ABCB3F23E8914C23E853430EBEFC3CD85FB06A654A081CBFDBB5E85760E937',NULL,NULL,1795610186491);
INSERT INTO "secret_versions" VALUES('4f7a78ae-a2c7-45dd-9e8b-ba7ef498d09d',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001880AEF1EA424F1DFD389C61222A25DD7655E48A07590BB48CB1361397F161AF5E6B9BA07D249A2DD0176D4021852',NULL,NULL,1795610186538);
INSERT INTO "secret_versions" VALUES('6c19d9fa-47f1-48c9-865f-e463fd0dd1d2',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000178C4EEA22676E2D431E7DE98F992BD68BFB22D01FEB88806A527AE12799D68BB856C6F47D1E8E6881C02599C4FCCAF264B4023BD913FD116F5330A91',NULL,NULL,1795610186565);
INSERT INTO "secret_versions" VALUES('136bd8ef-f208-4a32-9959-68acf5ef836d',2,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001821B98F437782E4D6C73ECB7C9F00A1F49EB9DA031273ABC804C3EF1D0DC79619B77EF2503E02D430C8D163AF39A',NULL,NULL,1795610187213);
INSERT INTO "secret_versions" VALUES('753f8b61-2172-4e64-bd5a-1d7a9ca9c70e',2,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A4AF9A52D849DFE441688F359D9FBCB7123F42B27CB5ACCA3A7FEFB9C4DAF993CA5DB57A5A2C1CAC2D6401CF7A30560749A267B8F6',NULL,NULL,1795610187347);
INSERT INTO "secret_versions" VALUES('393b9508-a3d4-49c0-84de-a2af5f393e7c',2,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000018532AA01D867B4FAA8B7358F58C97FCFECC701329803144D70CDE6EF16DE1FBD981982F37139CCFC90C40F8D491E21D3',NULL,NULL,1795610187489);
INSERT INTO "secret_versions" VALUES('e0da1403-7f11-4e79-9f3c-d9cbf2f8f191',2,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000010944C6793105CBBAF9A2695E5A23B49064DCACB9A1E8B170937443467CD16C92CFC58271FFEA37EC5A54BA8993',NULL,NULL,1795610187690);
INSERT INTO "secret_versions" VALUES('3e68fb80-8b18-4f25-b407-cf8fa64d3214',2,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001B81980BB4EF7F88636B7FB4AA0250A365E089E8E4B2481BD8FB6DEB82EFCDB81B29BF9D87E039C2F8ED1D4',NULL,NULL,1795610187852);
INSERT INTO "secret_versions" VALUES('eedb1680-0ab5-4e1f-b1e1-39db63fea03d',2,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000132896AB653F7A39C1E9A61DF76B030B4FDF3C8079128CFB0398D649ECF328C22927FB17241F6E598C69B557406911E6DDE31',NULL,NULL,1795610188140);
INSERT INTO "secret_versions" VALUES('e885ef79-612f-46f2-8196-4c12f2d51915',2,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001E255D84A720DEBF75FCB408FE7CDE31ED8CF2AEE81C87230AF9EFCEA40B658282BEC516F1E43F19B50685F039B8F2C',NULL,NULL,1795610188388);
INSERT INTO "secret_versions" VALUES('1ad7ee4c-8619-44b4-a8da-dc853f6981ea',2,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000196ECE159A2A243686D20758CA447E7922CFA6141D48451F54E270C0AC6E7623FB76B0C126D231BD520E51ED6',NULL,NULL,1795610188565);
INSERT INTO "secret_versions" VALUES('b47dce66-d318-4e3f-9438-933ef372f0f8',2,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000018F5FE5C7B43807CA71B45BCD18B016C08D464F29C50AB4D4A2C91276D64FFC5A6E776DE2E3983021E713FDF837',NULL,NULL,1795610188693);
INSERT INTO "secret_versions" VALUES('b18af465-cfb9-4ddc-9bf8-09a8732d9bf0',2,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000018B9EF30C950DC2116C5C73FDBE2EAB9709DBEC0B140D98CC20962A96F5B56F717D9D3165A3C0842846FED4868D',NULL,NULL,1795610188798);
INSERT INTO "secret_versions" VALUES('db8b5a62-bf39-4df4-9b71-6f118b9ea149',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001F85C215F2B496420D16F259499243984EA1BC2C566579570A36224D677B318EB5B8ACEB1BCC989F0D887F4CB',NULL,NULL,1795610188941);
INSERT INTO "secret_versions" VALUES('f3c02b61-eae0-4ec1-af7b-0753002479c5',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000199AE5A81054D140F7B232D8B96DBF1080EF24704CC1C9D35608CAD8540BCDC700CD0B0BE141D71159AD099',NULL,NULL,1795610188952);
INSERT INTO "secret_versions" VALUES('6dff27f5-87e3-4b85-b045-f62b8bf41a68',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A4002ED5837B56C2304A8768EF3E0DE44E8A12C1305687951CEA6BFB007D5A383846E5D38162819D956C70571E68',NULL,NULL,1795610188967);
INSERT INTO "secret_versions" VALUES('6f8ee5af-8de5-48a7-8787-33a1d01276f9',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001DCE03704D0FD1717756A2ADFCE67C2EEB066485A699F5E71986487AC5F02F640C38144D1AEFAF4692839915F6988FCA3AF218699BF0B227D42B76950',NULL,NULL,1795610189011);
INSERT INTO "secret_versions" VALUES('70c5f046-0fc8-4da3-a8dc-55e218f3df97',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001608DE39F2997FE6F7D6C4B6DB664FF5C318C4BB3F7FAAEA52338C7A9555B00EB43584272EB0EC52B4ECA737A49',NULL,NULL,1795610189286);
INSERT INTO "secret_versions" VALUES('2cb2ed27-ab47-473c-99fd-adbb65c6c5e9',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001405F6DCF9ACD8D5E4BBDE14802ABD7B44A918CF39C0132DA48950484965F048E8F3168F28B2B4698D59526AA',NULL,NULL,1795610189314);
INSERT INTO "secret_versions" VALUES('2e16a990-b618-4f3e-9234-1ee93033f850',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001DE7C8D33772F159C6F9D588B4F262BB9F9CF54A67DAC6F72EC33018ABBBF5213479F797B6115A1FCFBB0F73DA4688A',NULL,NULL,1795610189348);
INSERT INTO "secret_versions" VALUES('126d9f30-8aae-4b56-9f6a-c2b09dd10fcd',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A8A02D1E72E78F5329CC5D201A10B901F0D3D0BC8A67622ED3C4DF75825990FAF68BA27E33D00489935E068AEA09132994A3FEDC0874BF6195CB42C226',NULL,NULL,1795610189363);
INSERT INTO "secret_versions" VALUES('401c68b2-646c-4791-8bdb-56d6225a643b',1,'CHANGED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001948C3D6A65F68A46D0DA21C066F29699331DBE63BAB69A6160289D34C3ECD23AF8AC2818DD244424B7965D8239',NULL,NULL,1795610193125);
INSERT INTO "secret_versions" VALUES('570e1931-e5c5-49a1-acfc-e7cb53e965a7',1,'KEPT',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001DB334DF30F654B3EB7AD123EB051B4FE81F13E4E6C26E52D48B40F56E34FC042B5A716BC200B785CCDBD4538',NULL,NULL,1795610193144);
INSERT INTO "secret_versions" VALUES('bb22f2a8-c278-4590-b84e-e4c44673f2fd',1,'REMOVED',X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001B32C578C1DECB0FC8C45D3744B99959249B77737A44C86DFB15052FF6DC7145BB50080C6AA718D065AFE344B8FCE53',NULL,NULL,1795610193170);
INSERT INTO "secret_versions" VALUES('25d78cfc-a4bd-4545-9cd7-b01ffb2c8d95',1,'TEXT',X'0163C6E54AC30844F69C93FB5A6F3BD67C000000011D3A0A6BE2E0DFEC449EAB80FC019DDA7AB0FF359C710D202683F449E743E3DB54EE02816BF546DF072BA173FC27E741DC29792B19658104BE90D4121D',NULL,NULL,1795610193299);
CREATE TABLE secrets (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	folder_id VARCHAR(36) NOT NULL, 
	"key" VARCHAR(512) NOT NULL, 
	owner VARCHAR(36) NOT NULL, 
	version INTEGER NOT NULL, 
	value BLOB NOT NULL, 
	details BLOB, 
	skip_multiline_encoding BOOLEAN, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_secrets PRIMARY KEY (id), 
	CONSTRAINT fk_secrets_folder_id_folders FOREIGN KEY(folder_id) REFERENCES folders (id) ON DELETE CASCADE, 
	CONSTRAINT fk_secrets_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_secrets_folder_id_key_owner UNIQUE (folder_id, "key", owner)
);
INSERT INTO "secrets" VALUES('136bd8ef-f208-4a32-9959-68acf5ef836d','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','430b359b-a6f1-4cf5-81da-bb037e567922','CHANGED','',2,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001821B98F437782E4D6C73ECB7C9F00A1F49EB9DA031273ABC804C3EF1D0DC79619B77EF2503E02D430C8D163AF39A',NULL,NULL,1795610182288,1795610187213);
INSERT INTO "secrets" VALUES('7d25435b-12a3-4e2e-a1aa-73371b0d9ad4','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','430b359b-a6f1-4cf5-81da-bb037e567922','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000151E4DB266046382118DD13569C9DED4A5D4ED576DFF7671526EE760540E80FF6451AB342ED1738A03CFE1013',NULL,NULL,1795610182328,1795610182328);
INSERT INTO "secrets" VALUES('aac4c35d-b184-4f2a-bb86-d4dc24bd9294','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','430b359b-a6f1-4cf5-81da-bb037e567922','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001336C7452A42210B61546F33A84BC789B3E579FAA1ECF2C5AD193C2CDCFF74222FC1C5D2124CB57DCDE6CF3ADC74232',NULL,NULL,1795610182344,1795610182344);
INSERT INTO "secrets" VALUES('ae1bd41b-a506-4d4a-813d-f58f9a58dd7b','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','430b359b-a6f1-4cf5-81da-bb037e567922','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001B4A4CB59666018B5D4EA61DDB8D9692B1505B8266ED076B7BA04558DDFCAE2EFCB8A157FB87A836A0A94819DC2A865D6E77E3EBE726A07ABBEA2A84ED8',NULL,NULL,1795610182357,1795610182357);
INSERT INTO "secrets" VALUES('753f8b61-2172-4e64-bd5a-1d7a9ca9c70e','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','d51dad6c-0890-437f-a9d6-80735084d972','CHANGED','',2,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A4AF9A52D849DFE441688F359D9FBCB7123F42B27CB5ACCA3A7FEFB9C4DAF993CA5DB57A5A2C1CAC2D6401CF7A30560749A267B8F6',NULL,NULL,1795610182716,1795610187347);
INSERT INTO "secrets" VALUES('2aa93a83-5d1e-46af-a75e-11f7578f5033','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','d51dad6c-0890-437f-a9d6-80735084d972','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000166424AAFF8475BDEABCED5323BBC1FBFF0D7025A7D8A8449EB610626CF5D5189F430B541298010352EF67FCAB252F07311B5DC',NULL,NULL,1795610182742,1795610182742);
INSERT INTO "secrets" VALUES('746c3420-fa78-4355-9a7e-e43bc8d1fc73','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','d51dad6c-0890-437f-a9d6-80735084d972','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001D3D17FC4319AA730A33E5311A91C85A5DC9F54F546430FE484E582F4D8EEDF2E5E3AF77C36840763957FC1D6BB06DB20E385DBDE684C',NULL,NULL,1795610182799,1795610182799);
INSERT INTO "secrets" VALUES('3f72cafd-80df-4dbb-bb80-eb56acf77519','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','d51dad6c-0890-437f-a9d6-80735084d972','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C000000012B5921B5C631DCB9D90BF9545B6382B5B6CD0375921C49F4FCF8002667582EF26F763B17D5C86827291AA1BD346EE595445DD3',NULL,NULL,1795610182813,1795610182813);
INSERT INTO "secrets" VALUES('393b9508-a3d4-49c0-84de-a2af5f393e7c','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','3979601a-9dd7-4281-babe-444a0a5d42ee','CHANGED','',2,X'0163C6E54AC30844F69C93FB5A6F3BD67C000000018532AA01D867B4FAA8B7358F58C97FCFECC701329803144D70CDE6EF16DE1FBD981982F37139CCFC90C40F8D491E21D3',NULL,NULL,1795610182963,1795610187489);
INSERT INTO "secrets" VALUES('982440b9-aeff-476c-ba26-62b102350ddc','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','3979601a-9dd7-4281-babe-444a0a5d42ee','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001160DB5BF5DDC85115C04B2C76F140173F65509FCCCC065DC2D27F925D445A121221F12D85F44ECAD03C1C092E104',NULL,NULL,1795610182997,1795610182997);
INSERT INTO "secrets" VALUES('447e3328-6db2-4898-880c-dddafd607aca','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','3979601a-9dd7-4281-babe-444a0a5d42ee','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001D4322001C30178BCECE62CEBE4963F7B502501E5E925DD1F3BFD76E1B26F3B1DDE85FEC5C293ED61668A4AF49E99CB5258',NULL,NULL,1795610183037,1795610183037);
INSERT INTO "secrets" VALUES('53681cb9-a392-473c-88eb-a39767c401e2','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','3979601a-9dd7-4281-babe-444a0a5d42ee','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000129874339733AC244EBB55CBF91712291F7B8C957D6113E76243FFFA3601F68BD3BC0BCAD4BFD1227E0F02C08ED842A45FC9761D3660773A9379671143164C5',NULL,NULL,1795610183054,1795610183054);
INSERT INTO "secrets" VALUES('e0da1403-7f11-4e79-9f3c-d9cbf2f8f191','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','f1315ef1-8440-406b-adc7-b30d362e64ef','CHANGED','',2,X'0163C6E54AC30844F69C93FB5A6F3BD67C000000010944C6793105CBBAF9A2695E5A23B49064DCACB9A1E8B170937443467CD16C92CFC58271FFEA37EC5A54BA8993',NULL,NULL,1795610183171,1795610187690);
INSERT INTO "secrets" VALUES('b29c47d4-d6e9-4ffa-add6-268eccfaa308','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','f1315ef1-8440-406b-adc7-b30d362e64ef','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A254572F4C7121C037A5F1C72AA71F17D4439786B87E221767C2C577881D30853DD1592F79EF9F663100C4',NULL,NULL,1795610183214,1795610183214);
INSERT INTO "secrets" VALUES('90185af0-e9ac-4dfe-865e-b147684b89e8','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','f1315ef1-8440-406b-adc7-b30d362e64ef','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001D39EE6190B842AB611F0438BED6407806E7B9139F2994875987FEC7676B12CB0EFED1CFDCC90E7183179722F7C37',NULL,NULL,1795610183233,1795610183233);
INSERT INTO "secrets" VALUES('eb76cded-79d0-401a-a79f-ef5bc4929764','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','f1315ef1-8440-406b-adc7-b30d362e64ef','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000189CA11E2A019097C2915572E55C81D19C6CEC4FCB1C23B5B7466422DE05F146FD19C045B333DCA77EA59E325E96362D7E69EBCF565AA6DDEF6DB7392',NULL,NULL,1795610183251,1795610183251);
INSERT INTO "secrets" VALUES('3e68fb80-8b18-4f25-b407-cf8fa64d3214','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','bc41bc9f-5954-4464-9a57-2716216dc337','CHANGED','',2,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001B81980BB4EF7F88636B7FB4AA0250A365E089E8E4B2481BD8FB6DEB82EFCDB81B29BF9D87E039C2F8ED1D4',NULL,NULL,1795610183395,1795610187852);
INSERT INTO "secrets" VALUES('8f93ccf4-65e8-435f-85ff-09c9b15fa2ca','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','bc41bc9f-5954-4464-9a57-2716216dc337','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001F8F99D4A9D7C71FDF50E92F525C3F43EDD0E0C43201BE7E3ECD13D58F253D46D33A5A07E63EE35DC62',NULL,NULL,1795610183499,1795610183499);
INSERT INTO "secrets" VALUES('0868cb98-8517-42b2-8e91-3f43e22b43b7','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','bc41bc9f-5954-4464-9a57-2716216dc337','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A54409B812522F038507B2670F186B1C9EE6837BD6BDA20ADD8A12AF7D9E6FFF7A89E6CBACC6A75D7FC69B35',NULL,NULL,1795610183603,1795610183603);
INSERT INTO "secrets" VALUES('d56ef91b-29ab-4315-9956-ddc5bf5e9579','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','bc41bc9f-5954-4464-9a57-2716216dc337','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000156D3CA6419923304F23265430F82F171DD072194DE834A6E6A300917AAEBD09DDF76D1BAA824D85B27320DAA47E7BF71D21F37C5441B117B774F',NULL,NULL,1795610183802,1795610183802);
INSERT INTO "secrets" VALUES('eedb1680-0ab5-4e1f-b1e1-39db63fea03d','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','ffdfedd5-e1f9-4f2d-ab08-80fac3485159','CHANGED','',2,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000132896AB653F7A39C1E9A61DF76B030B4FDF3C8079128CFB0398D649ECF328C22927FB17241F6E598C69B557406911E6DDE31',NULL,NULL,1795610184533,1795610188140);
INSERT INTO "secrets" VALUES('d581f384-30aa-4de8-86f5-1afd5e251433','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','ffdfedd5-e1f9-4f2d-ab08-80fac3485159','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001CFBE79137E4BF70E8381A2D78A14C6518198EDC1E3885A3A4F58FB01DE298AB47145F3D69C615EE1BE41991F757A30E2',NULL,NULL,1795610184583,1795610184583);
INSERT INTO "secrets" VALUES('a4be7222-e291-4ae9-9192-274b94e75361','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','ffdfedd5-e1f9-4f2d-ab08-80fac3485159','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001BF420DDE8CEFD2CC49B27E48C5586162F97E93A0CE5F01876981A5370F6F04BC253DCA8FF45B88504FB7619ACC5E9FE1DC90B6',NULL,NULL,1795610184632,1795610184632);
INSERT INTO "secrets" VALUES('1e11cdad-4e95-4406-a112-eece29f50e0f','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','ffdfedd5-e1f9-4f2d-ab08-80fac3485159','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001649F90D917BC010B8D17E42C96C5F7223D09F2B0CB71A087CF8C5A1F2E8C1929609AB62AA11E5C28BFF8A8FC42F20B81A633AEE8E3AC6811E976A983CD5CCEF937',NULL,NULL,1795610184675,1795610184675);
INSERT INTO "secrets" VALUES('e885ef79-612f-46f2-8196-4c12f2d51915','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','97da7280-f69c-4bfa-b076-77c15bd92a4f','CHANGED','',2,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001E255D84A720DEBF75FCB408FE7CDE31ED8CF2AEE81C87230AF9EFCEA40B658282BEC516F1E43F19B50685F039B8F2C',NULL,NULL,1795610184873,1795610188388);
INSERT INTO "secrets" VALUES('2639acaa-3ca5-477d-8c95-af6fc7ca1ab6','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','97da7280-f69c-4bfa-b076-77c15bd92a4f','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C000000014A9DA7B5390AA7CD25C6B1BA0B0F75F9CABCB4C7DD3B597AE36E14237556D77A840DD46E1B609DCC411D022C01',NULL,NULL,1795610184887,1795610184887);
INSERT INTO "secrets" VALUES('431f1815-3f07-44dc-9557-d177c4f71985','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','97da7280-f69c-4bfa-b076-77c15bd92a4f','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A4C51F55272CFA87E6D219097ED1843BCF91B634CC0F88DE9ACEFB02C901547AB7C9BEBA7538A0CADFAFC15B3CAFB77B',NULL,NULL,1795610184911,1795610184911);
INSERT INTO "secrets" VALUES('c8ba5726-7f9d-44e2-ae89-8b59fb57f790','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','97da7280-f69c-4bfa-b076-77c15bd92a4f','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001164F2FE71D8627F33FA07E2A8A40123DD4A1EBCF520A06C716138FF31F9D820377DFC3C86AE113DC3EED622D5D6995701981C8FA7CC3D30AF7560B7DDBB2',NULL,NULL,1795610184935,1795610184935);
INSERT INTO "secrets" VALUES('1ad7ee4c-8619-44b4-a8da-dc853f6981ea','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','706f68c5-0e02-4a4a-a1e8-cea7ee11425e','CHANGED','',2,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000196ECE159A2A243686D20758CA447E7922CFA6141D48451F54E270C0AC6E7623FB76B0C126D231BD520E51ED6',NULL,NULL,1795610185574,1795610188565);
INSERT INTO "secrets" VALUES('a1d36c05-fbf8-4bc3-91eb-4ea4df0c9663','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','706f68c5-0e02-4a4a-a1e8-cea7ee11425e','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001B3FAA7654ABAE1A450063929A8024525AB22EC5C7E3E3156E6FE495CB583C5962317828910762102F40C',NULL,NULL,1795610185664,1795610185664);
INSERT INTO "secrets" VALUES('43de2b1d-93b9-44ac-8b75-d1b2fc5855e7','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','706f68c5-0e02-4a4a-a1e8-cea7ee11425e','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001E08CE248F509F40BDAAA8911ADE876C7FD5AB93E4925B97665AF728DCA479B36E914B93071ECF74669789813B3',NULL,NULL,1795610185775,1795610185775);
INSERT INTO "secrets" VALUES('3898d4a7-9ecb-4509-a0d3-d23d20eed1d4','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','706f68c5-0e02-4a4a-a1e8-cea7ee11425e','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000178DB26F13B44792E7698BC5EDD6A65B08F9C7738ECEC161DA6057BFEDAB8C39F6E7E3080DAD78F73D5B7C077052B2FA5090997B9AFCAFF86BB22C2',NULL,NULL,1795610185821,1795610185821);
INSERT INTO "secrets" VALUES('b47dce66-d318-4e3f-9438-933ef372f0f8','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','53fbad6a-026f-401e-9e67-421dda95c828','CHANGED','',2,X'0163C6E54AC30844F69C93FB5A6F3BD67C000000018F5FE5C7B43807CA71B45BCD18B016C08D464F29C50AB4D4A2C91276D64FFC5A6E776DE2E3983021E713FDF837',NULL,NULL,1795610186110,1795610188693);
INSERT INTO "secrets" VALUES('f7813c6e-bd09-4180-abe9-cd7de545cbff','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','53fbad6a-026f-401e-9e67-421dda95c828','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001D418ADDBA3DB651F16FE3EED4FA4EA07F3025322AE9DDB07592E46E0FBD09E81E0279751F03E949D3F5FA6',NULL,NULL,1795610186174,1795610186174);
INSERT INTO "secrets" VALUES('794d0e6a-3611-4491-acfa-b9a5f054f765','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','53fbad6a-026f-401e-9e67-421dda95c828','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C000000019BA61A472E01022FD3D9ADF1091BE79CEE40AFB69D6EF2B7DD0F6936963CF5E6F2C9EC92FCF798A1937C0097C12A',NULL,NULL,1795610186247,1795610186247);
INSERT INTO "secrets" VALUES('44e7b666-798f-4453-b84f-646a694c0bdd','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','53fbad6a-026f-401e-9e67-421dda95c828','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001D6EEA12AFF2140F8661084F436AF5A0E31D762E14EF4AFFA60F3F011C4372CA4575174D91E9EE3B5A44C9885C50EEBB247E3653E2DE953695B76FD9D',NULL,NULL,1795610186272,1795610186272);
INSERT INTO "secrets" VALUES('b18af465-cfb9-4ddc-9bf8-09a8732d9bf0','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','a5539143-4f6c-4db5-8006-ed7a87ad852f','CHANGED','',2,X'0163C6E54AC30844F69C93FB5A6F3BD67C000000018B9EF30C950DC2116C5C73FDBE2EAB9709DBEC0B140D98CC20962A96F5B56F717D9D3165A3C0842846FED4868D',NULL,NULL,1795610186400,1795610188798);
INSERT INTO "secrets" VALUES('9fc1188c-7279-42de-a0e1-5fa80b1b9f78','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','a5539143-4f6c-4db5-8006-ed7a87ad852f','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000105CE04C867965C91B89FB921ABCB3F23E8914C23E853430EBEFC3CD85FB06A654A081CBFDBB5E85760E937',NULL,NULL,1795610186491,1795610186491);
INSERT INTO "secrets" VALUES('4f7a78ae-a2c7-45dd-9e8b-ba7ef498d09d','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','a5539143-4f6c-4db5-8006-ed7a87ad852f','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001880AEF1EA424F1DFD389C61222A25DD7655E48A07590BB48CB1361397F161AF5E6B9BA07D249A2DD0176D4021852',NULL,NULL,1795610186538,1795610186538);
INSERT INTO "secrets" VALUES('6c19d9fa-47f1-48c9-865f-e463fd0dd1d2','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','a5539143-4f6c-4db5-8006-ed7a87ad852f','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000178C4EEA22676E2D431E7DE98F992BD68BFB22D01FEB88806A527AE12799D68BB856C6F47D1E8E6881C02599C4FCCAF264B4023BD913FD116F5330A91',NULL,NULL,1795610186565,1795610186565);
INSERT INTO "secrets" VALUES('db8b5a62-bf39-4df4-9b71-6f118b9ea149','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','61966e0e-c94f-4539-b840-ee9b31e53fd8','CHANGED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001F85C215F2B496420D16F259499243984EA1BC2C566579570A36224D677B318EB5B8ACEB1BCC989F0D887F4CB',NULL,NULL,1795610188941,1795610188941);
INSERT INTO "secrets" VALUES('f3c02b61-eae0-4ec1-af7b-0753002479c5','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','61966e0e-c94f-4539-b840-ee9b31e53fd8','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C0000000199AE5A81054D140F7B232D8B96DBF1080EF24704CC1C9D35608CAD8540BCDC700CD0B0BE141D71159AD099',NULL,NULL,1795610188952,1795610188952);
INSERT INTO "secrets" VALUES('6dff27f5-87e3-4b85-b045-f62b8bf41a68','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','61966e0e-c94f-4539-b840-ee9b31e53fd8','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A4002ED5837B56C2304A8768EF3E0DE44E8A12C1305687951CEA6BFB007D5A383846E5D38162819D956C70571E68',NULL,NULL,1795610188967,1795610188967);
INSERT INTO "secrets" VALUES('6f8ee5af-8de5-48a7-8787-33a1d01276f9','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','61966e0e-c94f-4539-b840-ee9b31e53fd8','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001DCE03704D0FD1717756A2ADFCE67C2EEB066485A699F5E71986487AC5F02F640C38144D1AEFAF4692839915F6988FCA3AF218699BF0B227D42B76950',NULL,NULL,1795610189011,1795610189011);
INSERT INTO "secrets" VALUES('70c5f046-0fc8-4da3-a8dc-55e218f3df97','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','94adb655-e9d4-423c-8919-1e4e41163f98','CHANGED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001608DE39F2997FE6F7D6C4B6DB664FF5C318C4BB3F7FAAEA52338C7A9555B00EB43584272EB0EC52B4ECA737A49',NULL,NULL,1795610189286,1795610189286);
INSERT INTO "secrets" VALUES('2cb2ed27-ab47-473c-99fd-adbb65c6c5e9','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','94adb655-e9d4-423c-8919-1e4e41163f98','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001405F6DCF9ACD8D5E4BBDE14802ABD7B44A918CF39C0132DA48950484965F048E8F3168F28B2B4698D59526AA',NULL,NULL,1795610189314,1795610189314);
INSERT INTO "secrets" VALUES('2e16a990-b618-4f3e-9234-1ee93033f850','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','94adb655-e9d4-423c-8919-1e4e41163f98','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001DE7C8D33772F159C6F9D588B4F262BB9F9CF54A67DAC6F72EC33018ABBBF5213479F797B6115A1FCFBB0F73DA4688A',NULL,NULL,1795610189348,1795610189348);
INSERT INTO "secrets" VALUES('126d9f30-8aae-4b56-9f6a-c2b09dd10fcd','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','94adb655-e9d4-423c-8919-1e4e41163f98','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001A8A02D1E72E78F5329CC5D201A10B901F0D3D0BC8A67622ED3C4DF75825990FAF68BA27E33D00489935E068AEA09132994A3FEDC0874BF6195CB42C226',NULL,NULL,1795610189363,1795610189363);
INSERT INTO "secrets" VALUES('401c68b2-646c-4791-8bdb-56d6225a643b','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','4a7a4398-7880-4d6a-a87f-73112665f9eb','CHANGED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001948C3D6A65F68A46D0DA21C066F29699331DBE63BAB69A6160289D34C3ECD23AF8AC2818DD244424B7965D8239',NULL,NULL,1795610193125,1795610193125);
INSERT INTO "secrets" VALUES('570e1931-e5c5-49a1-acfc-e7cb53e965a7','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','4a7a4398-7880-4d6a-a87f-73112665f9eb','KEPT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001DB334DF30F654B3EB7AD123EB051B4FE81F13E4E6C26E52D48B40F56E34FC042B5A716BC200B785CCDBD4538',NULL,NULL,1795610193144,1795610193144);
INSERT INTO "secrets" VALUES('bb22f2a8-c278-4590-b84e-e4c44673f2fd','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','4a7a4398-7880-4d6a-a87f-73112665f9eb','REMOVED','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C00000001B32C578C1DECB0FC8C45D3744B99959249B77737A44C86DFB15052FF6DC7145BB50080C6AA718D065AFE344B8FCE53',NULL,NULL,1795610193170,1795610193170);
INSERT INTO "secrets" VALUES('25d78cfc-a4bd-4545-9cd7-b01ffb2c8d95','c407b1e5-3d4d-4d04-8c46-ea44e274b8ea','4a7a4398-7880-4d6a-a87f-73112665f9eb','TEXT','',1,X'0163C6E54AC30844F69C93FB5A6F3BD67C000000011D3A0A6BE2E0DFEC449EAB80FC019DDA7AB0FF359C710D202683F449E743E3DB54EE02816BF546DF072BA173FC27E741DC29792B19658104BE90D4121D',NULL,NULL,1795610193299,1795610193299);
CREATE TABLE server_keys (
	name VARCHAR(64) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	wrapped BLOB NOT NULL, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_server_keys PRIMARY KEY (name)
);
INSERT INTO "server_keys" VALUES('token signing','13b30f7f-4e43-444f-a416-54bbbb87b8bf',X'017DBB61EB41EA0A1BDF57B42D57229DB000000001977A5BE88B6F1C817E078A935E025F37B51BFED751DCA45A8B5115895C9F2C1A90F0B490C26B2072044B20E183AB9823A657DE1B82500127B1C43F1B',1795610181256);
INSERT INTO "server_keys" VALUES('credential digest','083a98a2-ff11-4f61-8c2d-3ea008d995d0',X'017DBB61EB41EA0A1BDF57B42D57229DB00000000164E7B6C4D352E46384A1A11160F1E5E9122C7B3CECE7B219E2E0789FB9BE15180061E1EA0AB1B2273BA5595E1A12662F4B36CA92588505E93370B4BD',1795610181259);
INSERT INTO "server_keys" VALUES('entity tags','0677e854-d6c0-4bec-82c3-4a08d991a358',X'017DBB61EB41EA0A1BDF57B42D57229DB000000001339420113735C1368DC036F6EEC7BFAEA8527ABE22595F4D87249D110959EB49C4502CC21F9352174C841ADBCF22860C692E427687ABAFD382FC80BC',1795610181276);
INSERT INTO "server_keys" VALUES('sync digests','faf7b245-ded3-48d5-bdee-03f8d74422df',X'017DBB61EB41EA0A1BDF57B42D57229DB0000000017661B2D06553C074050E8237AB31A0F1AAAD606898A7DA300AA4BCEB52486E2C95B980487678DB0BECCD9B7B3C2FAE3D663440CB95BC5723CE0B4180',1795610181280);
INSERT INTO "server_keys" VALUES('auth methods','9c1157e8-95f8-4568-9269-c3066261ce22',X'017DBB61EB41EA0A1BDF57B42D57229DB00000000151E68A415A8C51C8F1D0C508147D698D7FBCC0A2DF20398D287E6F562C70213A4B89A4ADA902811EB7422D5068779B6E694123C1AE4766821FD2D428',1795610181283);
CREATE TABLE sync_jobs (
	id VARCHAR(36) NOT NULL, 
	sync_id VARCHAR(36) NOT NULL, 
	connection_id VARCHAR(36) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	is_running BOOLEAN NOT NULL, 
	attempt INTEGER NOT NULL, 
	parameters JSON NOT NULL, 
	due_at BIGINT NOT NULL, 
	claimed_by VARCHAR(36), 
	lease_ends_at BIGINT, 
	created_at BIGINT NOT NULL, 
	CONSTRAINT pk_sync_jobs PRIMARY KEY (id), 
	CONSTRAINT fk_sync_jobs_sync_id_secret_syncs FOREIGN KEY(sync_id) REFERENCES secret_syncs (id) ON DELETE CASCADE, 
	CONSTRAINT uq_sync_jobs_sync_id_kind_is_running UNIQUE (sync_id, kind, is_running)
);
INSERT INTO "sync_jobs" VALUES('54c45a2a-720a-47bf-871f-86239d6020b6','9622f5d0-a3ab-4afa-adda-6eb19c005be7','ebf2f377-449a-4912-af96-d4aa8507180d','sync',1,1,'{}',1795610193347,'7f0924f5-18c3-4276-8fed-b61226554f50',1795610253362,1795610193347);
CREATE TABLE sync_pushes (
	sync_id VARCHAR(36) NOT NULL, 
	name TEXT NOT NULL, 
	digest BLOB NOT NULL, 
	remote_version TEXT, 
	CONSTRAINT pk_sync_pushes PRIMARY KEY (sync_id, name), 
	CONSTRAINT fk_sync_pushes_sync_id_secret_syncs FOREIGN KEY(sync_id) REFERENCES secret_syncs (id) ON DELETE CASCADE
);
INSERT INTO "sync_pushes" VALUES('3f9ad5e5-b030-4899-9206-c261a3e5e24b','KEPT',X'4586BD67F4F74DF7DD7DF9F072442ABF9A1293F56C99B453503A50B363777E7B',NULL);
INSERT INTO "sync_pushes" VALUES('3f9ad5e5-b030-4899-9206-c261a3e5e24b','REMOVED',X'B97C92818DA5EA15D1D3046A80691BD974516ED221060C677BF32B929139E971',NULL);
INSERT INTO "sync_pushes" VALUES('3f9ad5e5-b030-4899-9206-c261a3e5e24b','TEXT',X'F7CD3EAEE37A2FF39E7C11DFFF96A88C0220F406DFC67338DAD6BEC692B2C7B5',NULL);
INSERT INTO "sync_pushes" VALUES('4b4c23db-1a7a-4e8f-a91c-46cf2c0b6ece','KEPT',X'EFEB3BB93CAC9342A419DEB0BA981E8C3661498F65D6BB9203883841B076F76F','2026-11-25T12:36:23Z');
INSERT INTO "sync_pushes" VALUES('4b4c23db-1a7a-4e8f-a91c-46cf2c0b6ece','REMOVED',X'38675C94F257BD912FAFD26D7BBB1B2FDE009DD7ACFC4574EF0ED4D03AF9ABF0','2026-11-25T12:36:23Z');
INSERT INTO "sync_pushes" VALUES('4b4c23db-1a7a-4e8f-a91c-46cf2c0b6ece','TEXT',X'98FD9F622E4B71A47C5AED7738915E3A90B7D9B49AA395CDB53A97FE634B373A','2026-11-25T12:36:23Z');
INSERT INTO "sync_pushes" VALUES('a0afb5e6-816e-4324-89f7-c3e3dccdec80','KEPT',X'649FC0305B5F60C8A026D2FEE6125786B136B3CCA1A3B4172365886983DF8565','00000000000000000000000000000001');
INSERT INTO "sync_pushes" VALUES('a0afb5e6-816e-4324-89f7-c3e3dccdec80','REMOVED',X'4D554C3BF11F7894FC213ABD59F0C8FE5924E8338AD849EF0728F557661BB430','00000000000000000000000000000001');
INSERT INTO "sync_pushes" VALUES('a0afb5e6-816e-4324-89f7-c3e3dccdec80','TEXT',X'8A3D09A39AE07326553E6F235662BAA1C2797091B70576FCAE327959D382BAD7','00000000000000000000000000000001');
INSERT INTO "sync_pushes" VALUES('98872540-6e10-4115-bf49-f221764b0a26','KEPT',X'F56DF320FB9ACD07A22CCBD5FB1ADA3C56ECADD58326E9A55B1F24312F0BA60F','1');
INSERT INTO "sync_pushes" VALUES('98872540-6e10-4115-bf49-f221764b0a26','REMOVED',X'CDE147805C7FA972125F38900F561A68CA67512D080B0C8B8D18DCF06FB5AC78','1');
INSERT INTO "sync_pushes" VALUES('98872540-6e10-4115-bf49-f221764b0a26','TEXT',X'28FD9DF75C6842FDA37DE8DD53B8F468F669CFA0D2DEF6F68E5C552BD73BF6C3','1');
INSERT INTO "sync_pushes" VALUES('fa9fed12-88f6-46f6-afc6-a5e4be3d951f','KEPT',X'1A685254D59D401A57D3E5EE8E9A60FB38479048D2DE1DF7FA208606456781B0','1');
INSERT INTO "sync_pushes" VALUES('fa9fed12-88f6-46f6-afc6-a5e4be3d951f','REMOVED',X'9A4AF8450033F78DC0A212283C17881637AC24619776D589629891DB47985680','1');
INSERT INTO "sync_pushes" VALUES('fa9fed12-88f6-46f6-afc6-a5e4be3d951f','TEXT',X'DEF3DCC10248B70F36C7091169F0AD005E3C2E8DFA960F5097EB2AB15FAF484E','1');
INSERT INTO "sync_pushes" VALUES('7785079e-b7eb-491d-99aa-5b13e7c78faf','one-KEPT',X'0957161AB43B65D46FFC1B3DEC272BA65A063DD1A632241AB1F38F20A78B667B','fd70dff5-3a4c-458f-9d39-73df1fded136');
INSERT INTO "sync_pushes" VALUES('7785079e-b7eb-491d-99aa-5b13e7c78faf','one-REMOVED',X'35DF0477FBA887205423FCB3B2DFCACBA1931FDA060BDA9C49BEBB479F9EBF53','027f9a25-0450-4372-96d3-9baf5e77a203');
INSERT INTO "sync_pushes" VALUES('7785079e-b7eb-491d-99aa-5b13e7c78faf','one-TEXT',X'B9B6F3190130B8E4CCEA8B6B29571F85E0D72B32EA66C76229F057EA55581EBD','67c927eb-1cf1-4cee-af1a-6425a4199bd4');
INSERT INTO "sync_pushes" VALUES('09f1dc2e-a15c-4bab-a82b-23a3aeb2b750','KEPT',X'967EC23B0345CC8637864E928988E1C5CA26C96461FE8B86FE52E375C800396B','ea39579c-509e-4bc7-8130-87c746338847');
INSERT INTO "sync_pushes" VALUES('09f1dc2e-a15c-4bab-a82b-23a3aeb2b750','REMOVED',X'DFE732FCA830BA616B3C9AFB7B37D97938E96A7722EF6158673C95B9BEAAE3CD','ea39579c-509e-4bc7-8130-87c746338847');
INSERT INTO "sync_pushes" VALUES('09f1dc2e-a15c-4bab-a82b-23a3aeb2b750','TEXT',X'CF09BDD04FD11F1DE6936D10D2EDCD7629E42413D3E7EBECD052BF00EA44038E','ea39579c-509e-4bc7-8130-87c746338847');
INSERT INTO "sync_pushes" VALUES('7ded51bc-6611-40e1-be05-d0d71434309a','KEPT',X'40AA42F1D15BA623307B311E09BDFBDD2B056F196CBA40C4FB7F7E8F12FBB7AE',NULL);
INSERT INTO "sync_pushes" VALUES('7ded51bc-6611-40e1-be05-d0d71434309a','REMOVED',X'37996F10FA9C02DC93D082FE9AA2A97631EE58222BC01ACEC1D4EE2769CE2C94',NULL);
INSERT INTO "sync_pushes" VALUES('7ded51bc-6611-40e1-be05-d0d71434309a','TEXT',X'1D77E02D80555E1238A7E83AA0B54CAF0AC69954B8311BCD635F760766795C99',NULL);
INSERT INTO "sync_pushes" VALUES('3796bb61-6734-47c0-a643-ec5b35eb5247','KEPT',X'D0CF09B843BBA174BEA53CA3E7AE2F983C52A022372B3DFA2F7E8C59417904B8','1');
INSERT INTO "sync_pushes" VALUES('3796bb61-6734-47c0-a643-ec5b35eb5247','REMOVED',X'B71093AD57C6CFB7BD3328A3EE9F28991CE965CFE8A89018529E4E24912DB806','1');
INSERT INTO "sync_pushes" VALUES('3796bb61-6734-47c0-a643-ec5b35eb5247','TEXT',X'911141E837B570DEC37F493F7D553398B430B6249E4F306D73A4B81D3C6095C4','1');
INSERT INTO "sync_pushes" VALUES('73620e3c-1b2e-4deb-ba86-9cbd7e057da9','APP_KEPT',X'D2FCB1CF4CAB64F16D730CD384F366A52D54351614BDEB3E0313CE053D602EFE',NULL);
INSERT INTO "sync_pushes" VALUES('73620e3c-1b2e-4deb-ba86-9cbd7e057da9','APP_REMOVED',X'39183EF2C6A0773C93CB42D2295EAEFBB7BBD55C2C2A6716781EDA99F69E53F8',NULL);
INSERT INTO "sync_pushes" VALUES('73620e3c-1b2e-4deb-ba86-9cbd7e057da9','APP_TEXT',X'9CCF0EE6A46550E0B8E88F22A6A20209BEA19CBC8C91C1FE1D4076B1D5A4E1F2',NULL);
INSERT INTO "sync_pushes" VALUES('73620e3c-1b2e-4deb-ba86-9cbd7e057da9','APP_CHANGED',X'5CA3006F766839720C62446696D0568D1132524E8FD18F8B640FC4536014E2C6',NULL);
INSERT INTO "sync_pushes" VALUES('3f9ad5e5-b030-4899-9206-c261a3e5e24b','CHANGED',X'6880E7A194E43A94ED704098C17A24EA5EF2A36E078B8EA713296331FD5CDA9F',NULL);
INSERT INTO "sync_pushes" VALUES('4b4c23db-1a7a-4e8f-a91c-46cf2c0b6ece','CHANGED',X'9B3B8D03F77E7A9576814E035D7565761384E9FF753471B1BAC7510FFCE158CA',NULL);
INSERT INTO "sync_pushes" VALUES('a0afb5e6-816e-4324-89f7-c3e3dccdec80','CHANGED',X'C6626AD3585A54CF6E55952575CE9185636AB195658578387B2C3F98853BC722','00000000000000000000000000000002');
INSERT INTO "sync_pushes" VALUES('98872540-6e10-4115-bf49-f221764b0a26','CHANGED',X'EEB64B2C91A6D56A8B3BCD3EE620CA2DEDF6E48716ECB246A3338A88F72E62A0','2');
INSERT INTO "sync_pushes" VALUES('fa9fed12-88f6-46f6-afc6-a5e4be3d951f','CHANGED',X'E84F8A241FE1F717C4F171AE0CAB24FE83BAA14AA7468822139C8EED4AF6E114','2');
INSERT INTO "sync_pushes" VALUES('7785079e-b7eb-491d-99aa-5b13e7c78faf','one-CHANGED',X'138135B4239E30CB3A887669330F54341729EB0F9C1CDB26DD5041F4506CD321','647a8804-175d-4391-a826-d5696c8082ce');
INSERT INTO "sync_pushes" VALUES('09f1dc2e-a15c-4bab-a82b-23a3aeb2b750','CHANGED',X'692B3A6C04D88CBDD9BC39FDCEEFA7256C7FE3CD165837977D2AE9592AA4637E','3c0054d2-a129-45f1-9e71-2002489d9904');
INSERT INTO "sync_pushes" VALUES('7ded51bc-6611-40e1-be05-d0d71434309a','CHANGED',X'A2ECA36A179229888D97F5335C8C50A23E49B76AC7D71D0EC0B028BA40E2C3FC',NULL);
INSERT INTO "sync_pushes" VALUES('3796bb61-6734-47c0-a643-ec5b35eb5247','CHANGED',X'6EDB232D0AF9E9C43AB34F28131D0D91F58C2D53C280435AE9953945716CC857','2');
INSERT INTO "sync_pushes" VALUES('4b6652e2-eef6-4e20-a600-d6d6bb1710b5','CHANGED',X'A1585A1EBB489E7BCBB45C68B3D9631AB3CBE3CCF2A017027AAB7B0A92CD8EF4',NULL);
INSERT INTO "sync_pushes" VALUES('4b6652e2-eef6-4e20-a600-d6d6bb1710b5','KEPT',X'2665BCD2DF70D35190EADFA25C12CEC17338CE3FE23419F39DFB69AD0F7991FE',NULL);
INSERT INTO "sync_pushes" VALUES('4b6652e2-eef6-4e20-a600-d6d6bb1710b5','REMOVED',X'83DF7033D9902257BF073AA2619516547AF2734D6BE52587EB9988CCFB537458',NULL);
INSERT INTO "sync_pushes" VALUES('4b6652e2-eef6-4e20-a600-d6d6bb1710b5','TEXT',X'1CAAA0C57B0F2225CC584634C2CED081BB8974CC36A4E738317A74E3362C4872',NULL);
CREATE TABLE tags (
	id VARCHAR(36) NOT NULL, 
	project_id VARCHAR(36) NOT NULL, 
	slug VARCHAR(64) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	color VARCHAR(32), 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_tags PRIMARY KEY (id), 
	CONSTRAINT fk_tags_project_id_projects FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE, 
	CONSTRAINT uq_tags_project_id_slug UNIQUE (project_id, slug)
);
CREATE TABLE universal_auths (
	identity_id VARCHAR(36) NOT NULL, 
	id VARCHAR(36) NOT NULL, 
	client_id VARCHAR(36) NOT NULL, 
	access_token_ttl INTEGER NOT NULL, 
	access_token_max_ttl INTEGER NOT NULL, 
	access_token_num_uses_limit INTEGER NOT NULL, 
	access_token_period INTEGER NOT NULL, 
	access_token_trusted_ips JSON NOT NULL, 
	client_secret_trusted_ips JSON NOT NULL, 
	lockout_enabled BOOLEAN NOT NULL, 
	lockout_threshold INTEGER NOT NULL, 
	lockout_duration_seconds INTEGER NOT NULL, 
	lockout_counter_reset_seconds INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	last_failure_at BIGINT, 
	locked_until BIGINT, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_universal_auths PRIMARY KEY (identity_id), 
	CONSTRAINT fk_universal_auths_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE, 
	CONSTRAINT uq_universal_auths_client_id UNIQUE (client_id)
);
INSERT INTO "universal_auths" VALUES('07bd480e-8f73-49ee-a06d-e2f22ecdc8a9','9e3340aa-8dc8-4bb9-be8b-26b21ad69214','b4e88678-f61c-400f-8c6e-baf30188e654',2592000,2592000,0,0,'["0.0.0.0/0", "::/0"]','["0.0.0.0/0", "::/0"]',1,3,300,30,0,NULL,NULL,1795610181572,1795610181572);
CREATE TABLE users (
	identity_id VARCHAR(36) NOT NULL, 
	email VARCHAR(254) NOT NULL, 
	first_name VARCHAR(64), 
	last_name VARCHAR(64), 
	password_hash VARCHAR(255) NOT NULL, 
	password_changed_at BIGINT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (identity_id), 
	CONSTRAINT fk_users_identity_id_identities FOREIGN KEY(identity_id) REFERENCES identities (id) ON DELETE CASCADE, 
	CONSTRAINT uq_users_email UNIQUE (email)
);
INSERT INTO "users" VALUES('a78b3016-97d4-4d85-8dd0-11d78b87aa35','old@example.com',NULL,NULL,'$argon2id$v=19$m=47104,t=1,p=1$cxz94n5YPHcubHf9sWGpiw$JyLn0wWSzrVbHXKpBnsmKILFUCqrrxzwebseQ/dxLNc',1795610182143,1795610182143,1795610182143);
CREATE INDEX ix_identities_organization_id ON identities (organization_id);
CREATE INDEX ix_client_secrets_identity_id ON client_secrets (identity_id);
CREATE INDEX ix_access_tokens_client_secret_id ON access_tokens (client_secret_id);
CREATE INDEX ix_access_tokens_expires_at ON access_tokens (expires_at);
CREATE INDEX ix_access_tokens_identity_id ON access_tokens (identity_id);
CREATE INDEX ix_project_memberships_identity_id ON project_memberships (identity_id);
CREATE INDEX ix_folders_parent_id ON folders (parent_id);
CREATE INDEX ix_secrets_project_id ON secrets (project_id);
CREATE INDEX ix_secret_references_folder_key ON secret_references (folder, "key");
CREATE INDEX ix_secret_tags_tag_id ON secret_tags (tag_id);
CREATE INDEX ix_login_failures_expires_at ON login_failures (expires_at);
CREATE INDEX ix_secrets_owner ON secrets (owner) WHERE owner <> '';
CREATE INDEX ix_project_grants_project_id_identity_id ON project_grants (project_id, identity_id);
CREATE INDEX ix_project_grants_identity_id ON project_grants (identity_id);
CREATE INDEX ix_audit_log_organization_id_created_at ON audit_log (organization_id, created_at);
CREATE INDEX ix_audit_log_project_id_created_at ON audit_log (project_id, created_at);
CREATE INDEX ix_audit_log_created_at ON audit_log (created_at);
CREATE INDEX ix_secret_imports_folder_id ON secret_imports (folder_id);
CREATE INDEX ix_secret_imports_environment_id_path ON secret_imports (environment_id, path);
CREATE UNIQUE INDEX uq_app_connections_name_of_organization ON app_connections (organization_id, name) WHERE project_id IS NULL;
CREATE UNIQUE INDEX uq_app_connections_name_of_project ON app_connections (project_id, name) WHERE project_id IS NOT NULL;
CREATE INDEX ix_secret_syncs_folder_id ON secret_syncs (folder_id);
CREATE INDEX ix_secret_syncs_connection_id ON secret_syncs (connection_id);
CREATE INDEX ix_secret_syncs_destination_digest ON secret_syncs (destination_digest);
CREATE INDEX ix_sync_jobs_is_running_due_at ON sync_jobs (is_running, due_at);
CREATE INDEX ix_authority_certificates_parent_id ON authority_certificates (parent_id);
CREATE INDEX ix_acme_accounts_project_id ON acme_accounts (project_id);
CREATE INDEX ix_certificate_profiles_authority_id ON certificate_profiles (authority_id);
CREATE INDEX ix_certificate_profiles_policy_id ON certificate_profiles (policy_id);
CREATE INDEX ix_application_profiles_profile_id ON application_profiles (profile_id);
CREATE INDEX ix_enrollments_profile_id ON enrollments (profile_id);
CREATE INDEX ix_enrollments_project_id ON enrollments (project_id);
CREATE UNIQUE INDEX uq_enrollments_of_application ON enrollments (application_id, profile_id, kind) WHERE application_id IS NOT NULL;
CREATE UNIQUE INDEX uq_enrollments_of_profile ON enrollments (profile_id, kind) WHERE application_id IS NULL;
CREATE INDEX ix_pki_subscribers_authority_id ON pki_subscribers (authority_id);
CREATE INDEX ix_certificates_application_id ON certificates (application_id);
CREATE INDEX ix_certificates_authority_certificate_id ON certificates (authority_certificate_id);
CREATE INDEX ix_certificates_authority_id_is_revoked ON certificates (authority_id, is_revoked);
CREATE INDEX ix_certificates_fingerprint ON certificates (fingerprint);
CREATE INDEX ix_certificates_not_after ON certificates (not_after);
CREATE INDEX ix_certificates_profile_id_created_at ON certificates (profile_id, created_at);
CREATE INDEX ix_certificates_project_id_created_at ON certificates (project_id, created_at);
CREATE INDEX ix_certificates_public_key_fingerprint ON certificates (public_key_fingerprint);
CREATE INDEX ix_certificates_renew_at ON certificates (renew_at);
CREATE INDEX ix_certificates_serial_number ON certificates (serial_number);
CREATE INDEX ix_certificates_subscriber_id_created_at ON certificates (subscriber_id, created_at);
CREATE INDEX ix_certificate_requests_application_id ON certificate_requests (application_id);
CREATE INDEX ix_certificate_requests_authority_id ON certificate_requests (authority_id);
CREATE INDEX ix_certificate_requests_certificate_id ON certificate_requests (certificate_id);
CREATE INDEX ix_certificate_requests_due_at ON certificate_requests (due_at);
CREATE INDEX ix_certificate_requests_profile_id_created_at ON certificate_requests (profile_id, created_at);
CREATE INDEX ix_certificate_requests_project_id_created_at ON certificate_requests (project_id, created_at);
CREATE INDEX ix_certificate_requests_project_id_status ON certificate_requests (project_id, status);
CREATE INDEX ix_certificate_request_metadata_digest_request_id ON certificate_request_metadata (digest, request_id);
CREATE INDEX ix_approval_policies_project_id ON approval_policies (project_id);
CREATE INDEX ix_approval_requests_policy_id ON approval_requests (policy_id);
CREATE INDEX ix_approval_requests_project_id_status ON approval_requests (project_id, status, created_at);
CREATE INDEX ix_approval_requests_status_expires_at ON approval_requests (status, expires_at);
CREATE INDEX ix_acme_challenges_request_id ON acme_challenges (request_id);
COMMIT;
