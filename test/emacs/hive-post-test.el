;;; hive-post-test.el --- Posting and composing  -*- lexical-binding: t; -*-

;; Tags: durable

(require 'cl-lib)
(require 'ert)
(require 'hive-shared)
(require 'hive-shared-test-help)

;;;; Commands

(ert-deftest hive-post/posts-to-the-project-i-am-in ()
  (hive-shared-test-with
    (hive-post "@all from the minibuffer 100%")
    (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
    (let ((message (car (hive-shared-test-do "messages"))))
      (should (equal "@all from the minibuffer 100%" (plist-get message :body)))
      (should (equal "Human" (plist-get message :from_handle)))
      (should (equal "demo" (plist-get message :project)))
      (should (equal "project" (plist-get message :scope)))
      (should (equal "emacs" (plist-get message :via))))
    (should (= 1 (length (hive-shared-test-do "mentions" :session "Claude-abc12"))))
    (should (= 1 (length (hive-shared-test-do "mentions" :session "Claude-def34"))))))

(ert-deftest hive-post/what-cannot-be-written-is-in-the-kill-ring ()
  (hive-shared-test-with
    (cl-letf (((symbol-function 'hive-outbox-append)
               (lambda (&rest _) (signal 'file-error '("Opening output file" "No space left on device")))))
      (let ((oops (should-error (hive-post "Do not lose me.") :type 'user-error)))
        (should (string-search "No space left on device" (cadr oops)))))
    (should (equal "Do not lose me." (current-kill 0)))))

(ert-deftest hive-post/posts-to-everyone ()
  (hive-shared-test-with
    (hive-post "hello all" t)
    (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
    (let ((message (car (hive-shared-test-do "messages"))))
      (should-not (plist-get message :project))
      (should (equal "all" (plist-get message :scope))))))

(ert-deftest hive-post/mentions-a-session-where-it-is-by-its-handle-with-its-at-or-without ()
  (hive-shared-test-with
    (hive-shared-test-do "join" :session_id "zzz99-session" :project "other"
                         :project_dir "/other/.git")
    (hive-test-wait 5 (member "Claude-zzz99" (hive-model-known-handles)))
    (dolist (handle '("Claude-zzz99" "@Claude-zzz99"))
      (hive-mention handle "look here")
      (hive-test-wait 10 (null (hive-outbox-entries 'pending))))
    (should (equal '(("@Claude-zzz99 look here" "/other/.git") ("@Claude-zzz99 look here" "/other/.git"))
                   (mapcar (lambda (message) (list (plist-get message :body) (plist-get message :project_dir)))
                           (hive-shared-test-do "messages"))))
    (should (= 2 (length (hive-shared-test-do "mentions" :session "Claude-zzz99"))))
    (should-error (hive-mention "@" "look here") :type 'user-error)))

(ert-deftest hive-post/says-who-was-not-reached ()
  (hive-shared-test-with
    (hive-test-hearing said
      (hive-post "@Claude-abc13 hello")
      (hive-test-wait 10 said)
      (should (string-match-p "\\`Posted\\.  @Claude-abc13 reached nobody: nobody has that name\\. Did you mean @Claude-abc12"
                              (car said))))))

(ert-deftest hive-post/an-empty-or-too-long-message-is-refused-before-it-is-sent ()
  (hive-shared-test-with
    (should-error (hive-post " \n ") :type 'user-error)
    (should-error (hive-post (make-string 17000 ?ü)) :type 'user-error)
    (should-error (hive-mention "" "hello") :type 'user-error)
    (should-not (hive-outbox-entries 'pending))))

(ert-deftest hive-post/says-whom-it-reaches-before-it-sends ()
  (hive-shared-test-with
    (hive-test-wait 5 (= 2 (length (hive-shared-agents nil))))
    (let ((asked nil))
      (cl-letf (((symbol-function 'read-from-minibuffer)
                 (lambda (prompt &rest _) (push prompt asked) "hello")))
        (call-interactively #'hive-post)
        ;; A session that takes no mentions is not reached, nor is a shell.
        (hive-test-call 'session/configure '(:session_id "Claude-abc12" :shared :json-false))
        (hive-test-wait 5 (= 1 (length (hive-shared-agents nil))))
        (call-interactively #'hive-post)
        (let ((current-prefix-arg '(4))) (call-interactively #'hive-post))
        (hive-test-call 'session/configure '(:session_id "Claude-def34" :shared :json-false))
        (hive-test-wait 5 (null (hive-shared-agents nil)))
        (call-interactively #'hive-post))
      (should (equal '("Post to 2 agents in demo" "Post to 1 agent in demo" "Post to 1 agent in all projects"
                       "Post to demo, where no agent is now")
                     (mapcar (lambda (prompt) (car (split-string prompt " (\\|:"))) (reverse asked)))))
    (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
    (should (equal '("demo" "demo" nil "demo")
                   (mapcar (lambda (message) (plist-get message :project)) (hive-shared-test-do "messages"))))))

(ert-deftest hive-post/a-directory-of-no-agent-means-the-only-project-with-agents-or-asks ()
  (hive-shared-test-with
    (hive-test-wait 5 (= 2 (length (hive-shared-agents nil))))
    (let ((default-directory (file-name-as-directory (expand-file-name "nowhere" hive-test-temp))))
      (should (equal "demo" (plist-get (hive-shared-place-here) :project)))
      (hive-shared-test-do "join" :session_id "zzz99-session" :project "other" :project_dir "/other/.git")
      (hive-test-wait 5 (member "Claude-zzz99" (hive-model-known-handles)))
      (pcase-let ((`((,prompt . ,names))
                   (hive-test-with-inputs '("other")
                     (should (equal "/other/.git" (plist-get (hive-shared-place-here) :project_dir))))))
        (should (equal (format "Shared buffer of (default %s): " (car names)) prompt))
        (should (equal '("demo" "other") (sort (seq-take names 2) #'string<)))
        (should (equal '("nowhere" "everyone") (seq-drop names 2))))
      ;; An empty clone of a project with agents is told apart by its directory.
      (let* ((here (append '(:project "other") (hive-place-of)))
             (name (format "other (%s)" (plist-get here :project_dir))))
        (hive-test-with-inputs (list name)
          (should (equal here (hive-shared-read-project (hive-shared--projects) here)))))
      (hive-test-with-inputs '("nowhere")
        (should (equal "nowhere" (plist-get (hive-shared-place-here) :project))))
      ;; Once its buffer is open, it is not asked for again.
      (hive-shared-buffer (hive-place-of))
      (should (equal "nowhere" (plist-get (hive-shared-place-here) :project))))
    ;; Where agents are, nothing is asked.
    (should (equal "demo" (plist-get (hive-shared-place-here) :project)))))

(ert-deftest hive-post/a-name-that-nobody-has-is-refused-before-anything-is-sent ()
  (hive-shared-test-with
    (should-error (hive-mention "Claude-abc13" "hello") :type 'user-error)
    (should-not (hive-outbox-entries 'pending))
    (hive-mention "all" "hello")
    (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
    (should (equal "@all hello" (plist-get (car (hive-shared-test-do "messages")) :body)))))

;;;; Nothing typed is lost

(ert-deftest hive-post/is-on-disk-first-and-survives-emacs-and-sidecar ()
  (hive-shared-test-with
    (hive-sidecar-stop)
    (hive-post "typed while nothing ran")
    (should (cl-find "typed while nothing ran" (hive-outbox-read (hive-outbox-file))
                     :test #'equal
                     :key (lambda (record)
                            (plist-get (plist-get record :params) :body))))
    ;; As it is for another Emacs.
    (hive-outbox-close)
    (hive-outbox-open)
    (hive-sidecar-start)
    (hive-test-wait 10 (and (hive-sidecar-connected-p)
                            (null (hive-outbox-entries 'pending))))
    (should (equal (hive-shared-test-stored) '(("Human" nil "typed while nothing ran"))))))

(ert-deftest hive-post/sent-twice-is-posted-once ()
  (hive-shared-test-with
    (let ((sent nil))
      (cl-letf* ((request (symbol-function 'hive-rpc-request))
                 ((symbol-function 'hive-rpc-request)
                  (lambda (method params &rest more)
                    (when (eq method 'message/post) (push params sent))
                    (apply request method params more))))
        (hive-post "only once")
        (hive-test-wait 10 (null (hive-outbox-entries 'pending))))
      (should (eq t (plist-get (hive-test-call 'message/post (car sent)) :existing))))
    (should (= 1 (length (hive-shared-test-stored))))))

(ert-deftest hive-post/a-refused-message-is-reported-and-kept ()
  (hive-shared-test-with
    (hive-test-hearing said
      (hive-post-send "an answer to nothing" :reply-to "msg-there-is-none")
      (hive-test-wait 10 (hive-outbox-entries 'rejected))
      (should (equal "an answer to nothing" (car kill-ring)))
      (should (= 1 (length said)))
      (should (string-search "could not be stored" (car said))))))

(ert-deftest hive-post/a-full-disk-keeps-the-draft ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert "precious")
    (cl-letf (((symbol-function 'hive-outbox-append)
               (lambda (&rest _) (signal 'file-error '("No space left on device")))))
      (should-error (hive-shared-post) :type 'user-error))
    (should (equal (hive-shared-draft) "precious"))
    (should (equal (car kill-ring) "precious"))))

;;;; The draft

(ert-deftest hive-post/a-draft-is-posted-and-undo-brings-it-back ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert "first line\n\n  second\n")
    (undo-boundary)
    (hive-shared-post)
    (should (equal (hive-shared-draft) ""))
    (hive-shared-test-wait-for "first line\n\n  second")
    (undo-boundary)
    (let ((last-command nil)) (undo))
    (should (equal (hive-shared-draft) "first line\n\n  second\n"))
    (hive-test-pass 0.6)
    (should (= 1 (length (hive-shared-test-stored))))))

(ert-deftest hive-post/a-draft-written-as-blocks-is-several-messages ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert (propertize "\n## 2026-01-11 18:00:00 Claude-xyz\n\none\n\n## 2026-01-11 18:00:00 Ada\n\ntwo"
                        'hive-typed t))
    (hive-shared-post)
    (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
    (should (equal (hive-shared-test-stored)
                   '(("Human" "Claude-xyz" "one") ("Human" "Ada" "two"))))))

(ert-deftest hive-post/a-thread-buffer-posts-into-its-thread ()
  (hive-shared-test-with
    (hive-shared-test-open "release")
    (goto-char (point-max))
    (insert "first")
    (hive-shared-toggle-urgent)
    (hive-shared-post)
    (hive-shared-test-wait-for "first")
    (let ((message (car (hive-shared-test-do "messages"))))
      (should (equal "release" (plist-get message :thread)))
      (should (equal "urgent" (plist-get message :priority))))
    (should-not hive-shared-urgent)))

(ert-deftest hive-post/discarding-keeps-the-text ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert "half a thought")
    (hive-shared-discard)
    (should (equal (car kill-ring) "half a thought"))
    (kill-buffer (current-buffer))
    (let ((default-directory project)) (hive-shared-test-open))
    (should (equal (hive-shared-draft) ""))))

;;;; The draft is kept

(defmacro hive-post-test-open (&optional thread)
  "Open the buffer of the project, or of THREAD, after another one was killed."
  `(let ((default-directory project)) (hive-shared-test-open ,thread)))

(ert-deftest hive-post/a-draft-survives-the-buffer-with-what-it-replies-to ()
  (hive-shared-test-with
    (let ((asked (hive-shared-test-post "Which one?")))
      (hive-shared-test-open)
      (goto-char (hive-shared-top))
      (hive-shared-reply)
      (insert "the sécond")
      (kill-buffer (current-buffer))
      (hive-post-test-open)
      (should (equal (hive-shared-draft) "@Claude-abc12 the sécond"))
      (should (string-search "replying to demo: Which one?" (hive-shared--header)))
      (should (= (point) (point-max)))
      (hive-shared-post)
      (hive-shared-test-wait-for "@Claude-abc12 the sécond")
      (should (equal (plist-get asked :message_id) (plist-get (hive-shared-last) :reply_to)))
      ;; A posted message is no draft any more.
      (should-not (directory-files hive-drafts-directory nil "txt\\'")))))

(ert-deftest hive-post/a-draft-has-its-thread-and-its-priority ()
  (hive-shared-test-with
    (let ((first (hive-shared-test-post "root")))
      (hive-shared-test-post "besides")
      (hive-shared-test-open)
      (goto-char (hive-shared-top))
      (hive-shared-narrow)
      (hive-shared-toggle-urgent)
      (goto-char (point-max))
      (insert "for the thread")
      (kill-buffer (current-buffer))
      (hive-post-test-open)
      (should (equal (hive-shared-draft) "for the thread"))
      (should (string-search "urgent, in thread" (hive-shared--header)))
      (goto-char (point-min))
      (search-forward "besides")
      (should (invisible-p (1- (point))))
      (hive-shared-post)
      (hive-shared-test-wait-for "for the thread")
      (should (equal (plist-get first :message_id) (plist-get (hive-shared-last) :thread)))
      (should (equal "urgent" (plist-get (hive-shared-last) :priority)))
      (should-not (directory-files hive-drafts-directory nil "txt\\'")))))

(ert-deftest hive-post/a-draft-of-another-emacs-stays ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (let ((id (hive-shared--id-of-draft)))
      ;; The other one saves its draft while this buffer is open.
      (hive-compose-keep id "theirs")
      (kill-buffer (current-buffer))
      (should (equal "theirs" (hive-compose-draft id)))
      (hive-post-test-open)
      (hive-compose-keep id "theirs, continued")
      (kill-buffer (current-buffer))
      (should (equal "theirs, continued" (hive-compose-draft id)))
      ;; The message posted here is no draft any more; the other one is.
      (hive-compose-keep id "")
      (hive-post-test-open)
      (insert "mine")
      (hive-compose-keep id "theirs")
      (hive-draft-save)
      (should (equal "theirs\n\f\nmine" (hive-compose-draft id)))
      (hive-shared-post)
      (should (equal "theirs" (hive-compose-draft id))))))

(ert-deftest hive-post/what-is-left-half-typed-in-the-minibuffer-is-there-again ()
  (hive-shared-test-with
    (let ((offered nil) (text nil))
      (cl-letf (((symbol-function 'read-from-minibuffer)
                 (lambda (_prompt &optional initial &rest _)
                   (push initial offered)
                   (with-temp-buffer
                     (run-hooks 'minibuffer-setup-hook)
                     (insert (or initial "") (or (car-safe text) text))
                     (when (consp text) (run-hooks 'kill-emacs-hook))
                     (run-hooks 'minibuffer-exit-hook)
                     (when (consp text) (signal 'quit nil))
                     (buffer-string)))))
        (cl-flet ((post (what) (setq text what) (condition-case nil (call-interactively #'hive-post) (quit nil))))
          (post '("half a "))
          ;; A message for everyone is another draft.
          (let ((current-prefix-arg '(4))) (post '("")))
          (post "thought")
          (post "new"))
        (should (equal '(nil "half a " nil nil) offered))))
    (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
    (should (equal '("half a thought" "new")
                   (mapcar (lambda (message) (plist-get message :body)) (hive-shared-test-do "messages"))))
    (should-not (directory-files hive-drafts-directory nil "txt\\'"))))

(ert-deftest hive-post/each-thread-has-a-draft-of-its-own ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert "for all")
    (kill-buffer (current-buffer))
    (hive-post-test-open "release")
    (should (equal (hive-shared-draft) ""))
    (insert "for the release")
    (kill-buffer (current-buffer))
    (hive-post-test-open)
    (should (equal (hive-shared-draft) "for all"))))

(ert-deftest hive-post/a-draft-survives-a-crash-and-the-end-of-emacs ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert "typed and left alone")
    ;; As after a pause: from then on, Emacs may crash.
    (timer-event-handler hive-compose--timer)
    (should (equal (hive-compose-draft (hive-shared--id-of-draft)) "typed and left alone"))
    (insert ", and then C-x C-c")
    (run-hooks 'kill-emacs-hook)
    (should (equal (hive-compose-draft (hive-shared--id-of-draft))
                   "typed and left alone, and then C-x C-c"))
    (hive-shared-discard)))

(ert-deftest hive-post/in-a-buffer-narrowed-to-the-messages-a-draft-is-below-the-line ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (hive-compose-keep (hive-shared--id-of-draft) "Kept.")
    (narrow-to-region (point-min) (+ (point-min) 4))
    (hive-shared-restore-draft)
    (should (= 4 (- (point-max) (point-min))))
    (should (equal "Kept." (hive-shared-draft)))
    (goto-char (point-min))
    (hive-shared-insert-template "Look.")
    (should (equal "Kept.Look." (hive-shared-draft)))
    (hive-shared-discard)))

(ert-deftest hive-post/a-draft-follows-the-name-that-the-sidecar-gives-the-project ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert "the draft")
    (hive-draft-save)
    (let ((before (hive-shared--id-of-draft)))
      (setq hive-shared-place (list :confirmed t :project "demo" :project_dir "/elsewhere"))
      (hive-draft-save)
      (should-not (hive-compose-draft before))
      (should (equal (hive-compose-draft (hive-shared--id-of-draft)) "the draft")))
    (hive-shared-discard)))

(ert-deftest hive-post/a-draft-that-cannot-be-kept-goes-into-the-kill-ring ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert "precious")
    (let ((hive-drafts-directory "/proc/no such directory/"))
      (kill-buffer (current-buffer)))
    (should (equal (car kill-ring) "precious"))))

;;;; Handles

(ert-deftest hive-post/handles-complete-after-an-at ()
  (hive-shared-test-with
    (hive-shared-test-do "join" :session_id "zzz99-session" :project "other"
                         :project_dir "/other/.git")
    (hive-test-wait 5 (member "Claude-zzz99" (hive-model-known-handles)))
    (hive-shared-test-open)
    (goto-char (point-max))
    ;; A session is reached by its title, and by its handle.
    (should (equal (seq-take (hive-model-known-handles hive-model-project-dir) 4)
                   '("demo" "Claude-abc12" "demo-2" "Claude-def34")))
    (should (string-match-p "demo 2 .*active" (hive-model--annotation "Claude-def34")))
    (should (string-match-p "Claude-def34 .*active" (hive-model--annotation "demo-2")))
    (insert "hello @claude-d")
    (completion-at-point)
    (insert "you")
    (should (equal (hive-shared-draft) "hello @Claude-def34 you"))
    (delete-region (hive-shared-start) (point-max))
    (insert "hello @claude-d, you")
    (search-backward ",")
    (completion-at-point)
    (should (equal (hive-shared-draft) "hello @Claude-def34, you"))
    (goto-char (point-max))
    (should (eq 'completion-at-point (key-binding (kbd "TAB"))))
    ;; The second is that of Emacs 30, which does the same.
    (should (memq (key-binding (kbd "M-TAB")) '(completion-at-point complete-symbol)))
    (dolist (text '("mail me@cl" "see /@cl" "no at cl"))
      (delete-region (hive-shared-start) (point-max))
      (insert text)
      (should-not (hive-model-complete-handle)))
    (delete-region (hive-shared-start) (point-max))
    (insert "(@")
    (pcase-let ((`(,beg ,end ,table . ,_) (hive-model-complete-handle)))
      (should (= beg end (point)))
      (should (member "All" (all-completions "" table)))
      (should (member "Human" (all-completions "" table)))
      (should (equal '("Human") (all-completions "hum" table))))
    ;; Sessions that have ended are not offered.
    (hive-shared-test-do "end" :from "Claude-zzz99")
    (hive-test-wait 5 (not (member "Claude-zzz99" (hive-model-known-handles))))))

(ert-deftest hive-post/roles-and-who-takes-no-mentions ()
  (hive-shared-test-with
    (hive-test-call 'session/configure
                    '(:session_id "Claude-abc12" :shared :json-false))
    (hive-test-call 'session/configure
                    '(:session_id "Claude-def34" :roles ["reviewer"]))
    (hive-test-wait 5 (equal (hive-model-known-handles)
                             '("demo-2" "Claude-def34" "reviewer" "All" "Human")))))

;;;; Places

(ert-deftest hive-post/a-place-is-what-the-sidecar-says ()
  (hive-shared-test-with
    (let* ((root (expand-file-name "places/" hive-test-temp))
           (make (lambda (name)
                   (make-directory (expand-file-name name root) t)
                   (expand-file-name name root)))
           (write (lambda (name text)
                    (write-region text nil (expand-file-name name root) nil 0))))
      (dolist (name '("plain/deep" "repo/.git" "repo/src" "bare.git/worktrees/tree"
                      "tree/src" "repo/.git/worktrees/other" "other"))
        (funcall make name))
      (dolist (git '("repo/.git" "bare.git" "bare.git/worktrees/tree" "repo/.git/worktrees/other"))
        (funcall write (concat git "/HEAD") "ref: refs/heads/main\n"))
      (funcall write "bare.git/worktrees/tree/commondir" "../..\n")
      (funcall write "repo/.git/worktrees/other/commondir" "../..\n")
      (funcall write "tree/.git" (format "gitdir: %sbare.git/worktrees/tree\n" root))
      (funcall write "other/.git" "gitdir: ../repo/.git/worktrees/other\n")
      (dolist (name '("plain/deep" "repo" "repo/src" "tree" "tree/src" "other"))
        (ert-info (name)
          (let* ((directory (file-name-as-directory (expand-file-name name root)))
                 (place (hive-place-of directory))
                 (page (hive-test-call 'message/list (list :directory directory))))
            (should (equal (plist-get place :project) (plist-get page :project)))
            (should (equal (plist-get place :project_dir) (plist-get page :project_dir)))))))))

(ert-deftest hive-post/a-remote-directory-is-no-place-and-connects-to-nothing ()
  (require 'tramp-sh)
  (cl-letf (((symbol-function 'tramp-maybe-open-connection)
             (lambda (&rest _) (ert-fail "It connects"))))
    (dolist (name '("/ssh:elsewhere:/home/" "/ssh:elsewhere:~/" "/ssh:elsewhere:"))
      (should-not (hive-place-of name))
      (let ((default-directory name)) (should-not (hive-place-of))))))
