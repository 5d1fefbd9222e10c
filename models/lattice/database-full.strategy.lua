-- For database-full.xml, whose property is that the database cannot become full (000 §2.1, Fig. 5): join two states unless
-- what comes out could look full. aLogin has a 0 where a user may be in the database; joined, it has the 0s of both.

function join(x, y)
  return x.aLogin:num0s() + y.aLogin:num0s() < N_USERS
end
