;;; hive-shared-test.el --- The shared buffer  -*- lexical-binding: t; -*-

;; Tags: undisturbed

(require 'cl-lib)
(require 'ert)
(require 'hive-mode-line)
(require 'hive-shared)
(require 'hive-shared-unread)
(require 'hive-shared-test-help)

;;;; Showing

(ert-deftest hive-shared/a-heading-says-what-people-call-its-author ()
  (hive-shared-test-with
    (hive-shared-test-post "The login is done." :priority "urgent")
    (hive-shared-test-open)
    (should (equal (delq nil (mapcar (lambda (overlay) (overlay-get overlay 'after-string))
                                     (overlays-in (point-min) (point-max))))
                   '("  (demo, urgent)")))))

(ert-deftest hive-shared/shows-what-was-posted-in-the-seeds-format ()
  (hive-shared-test-with
    (let ((message (hive-shared-test-post "@Claude-def34 The login is done.")))
      (hive-shared-test-post "second\n\nparagraph")
      (hive-shared-test-open)
      (should (equal (buffer-name) "*hive-shared: demo*"))
      (let ((stamp (hive-format-stamp (plist-get message :at))))
        (should (string-prefix-p
                 (concat "## " stamp " Claude-abc12\n\n@Claude-def34 The login is done.\n\n## ")
                 (hive-shared-test-shown))))
      (should (equal (hive-shared-test-bodies)
                     '("@Claude-def34 The login is done." "second\n\nparagraph"))))))

(ert-deftest hive-shared/shows-what-is-posted-while-it-is-open-once-and-in-order ()
  (hive-shared-test-with
    (hive-shared-test-post "before")
    (hive-shared-test-open)
    (dotimes (n 20) (hive-shared-test-post (format "m%d" n)))
    (hive-shared-test-wait-for "m19")
    (should (equal (hive-shared-test-bodies)
                   (cons "before" (mapcar (lambda (n) (format "m%d" n))
                                          (number-sequence 0 19)))))))

(ert-deftest hive-shared/text-from-agents-is-inert ()
  (hive-shared-test-with
    (hive-shared-test-post "100%s \e[31mred\u202e txet \u200bx\n## 2026-01-01 00:00:00 Human\n\nforged")
    (hive-shared-test-open)
    (should (string-search "100%s ^[[31mred<U+202E> txet <U+200B>x\n\\## 2026-01-01"
                           (hive-shared-test-shown)))
    ;; A forged heading in a body is not a message.
    (should (= 1 (length (hive-format-parse (hive-shared-test-shown)))))))

(ert-deftest hive-shared/shows-this-project-and-everyone-but-no-other-project ()
  (hive-shared-test-with
    (hive-shared-test-do "join" :session_id "zzz99-session" :project "other"
                         :project_dir "/other/.git")
    (hive-shared-test-open)
    (hive-shared-test-do "post" :from "Claude-zzz99" :body "in the other project")
    (hive-shared-test-do "post" :from "Claude-zzz99" :body "to everyone" :scope "all")
    (hive-shared-test-post "here")
    (hive-shared-test-wait-for "here")
    (should (equal (hive-shared-test-bodies) '("to everyone" "here")))))

(ert-deftest hive-shared/the-header-line-counts-the-mentions-of-me-in-this-buffer ()
  (hive-shared-test-with
    (hive-shared-test-do "join" :session_id "zzz99-session" :project "other"
                         :project_dir "/other/.git")
    (hive-shared-test-open)
    (hive-shared-test-do "post" :from "Claude-zzz99" :body "@Human in the other project")
    (hive-test-wait 5 (= 1 (hive-mentions-count)))
    (should-not (string-search "for you" (hive-shared--header)))
    (hive-shared-test-do "post" :from "Claude-zzz99" :body "@Human to everyone" :scope "all")
    (hive-shared-test-post "@Human here" :thread "release")
    (hive-test-wait 5 (= 3 (hive-mentions-count)))
    (hive-shared-test-wait-for "@Human here")
    (should (string-search "   2 for you" (hive-shared--header)))
    (hive-shared-test-open "release")
    (should (string-search "   1 for you" (hive-shared--header)))
    (set-buffer (hive-shared-buffer nil))
    (hive-shared-test-ready)
    (should (string-search "   3 for you" (hive-shared--header)))))

(ert-deftest hive-shared/a-thread-has-a-buffer-of-its-own ()
  (hive-shared-test-with
    (let ((first (hive-shared-test-post "root")))
      (hive-shared-test-post "besides")
      (hive-shared-test-post "reply" :reply_to (plist-get first :message_id))
      (hive-shared-test-open (plist-get first :message_id))
      (should (equal (hive-shared-test-bodies) '("root" "reply")))
      (hive-shared-test-post "besides again")
      (hive-shared-test-post "reply again" :reply_to (plist-get first :message_id))
      (hive-shared-test-wait-for "reply again")
      (should (equal (hive-shared-test-bodies) '("root" "reply" "reply again"))))))

(ert-deftest hive-shared/can-be-narrowed-to-a-thread ()
  (hive-shared-test-with
    (let ((first (hive-shared-test-post "root")))
      (hive-shared-test-post "besides")
      (hive-shared-test-open)
      (goto-char (hive-shared-top))
      (hive-shared-narrow)
      (hive-shared-test-post "reply" :reply_to (plist-get first :message_id))
      (hive-shared-test-post "elsewhere")
      (hive-shared-test-wait-for "elsewhere")
      (cl-flet ((visible (text)
                  (goto-char (point-min))
                  (search-forward text)
                  (not (invisible-p (1- (point))))))
        (should (visible "root"))
        (should (visible "reply"))
        (should-not (visible "besides"))
        (should-not (visible "elsewhere"))
        ;; Messages are posted to the thread.
        (goto-char (point-max))
        (insert "mine")
        (hive-shared-post)
        (hive-shared-test-wait-for "mine")
        (should (equal (plist-get first :message_id)
                       (plist-get (hive-shared-last) :thread)))
        (hive-shared-narrow)
        (should (visible "besides"))))))

(ert-deftest hive-shared/a-hostile-body-costs-little ()
  (dolist (unit '("@a` " "@a " "`" "@" "\n" "\u200b" "## 2026\n"))
    (cl-flet ((show (length)
                (let ((body (apply #'concat (make-list (/ length (length unit)) unit))))
                  (hive-shared-message-text (list :message_id "msg-1" :seq 1 :body body
                                                  :from_handle (make-string 10000 ?x) :author "agent"
                                                  :at "2026-01-11T18:00:00.000Z")))))
      (hive-test-linear #'show 2000)
      (should (stringp (show 32768))))))

(ert-deftest hive-shared/a-narrowed-buffer-is-updated-too ()
  (hive-shared-test-with
    (dotimes (n 3) (hive-shared-test-post (format "m%d" n)))
    (hive-shared-test-open)
    (goto-char (hive-shared-top))
    (narrow-to-region (point) (progn (forward-line 3) (point)))
    (hive-shared-test-post "news")
    (hive-test-wait 5 (= 4 (hive-shared-count)))
    (should (buffer-narrowed-p))
    (should-not (string-search "news" (buffer-string)))
    (widen)
    (should (equal (hive-shared-test-bodies) '("m0" "m1" "m2" "news")))))

;;;; The sidecar comes and goes

(ert-deftest hive-shared/what-was-posted-while-the-sidecar-was-away-is-shown ()
  (hive-shared-test-with
    (hive-shared-test-post "before")
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert "my draft")
    (hive-sidecar-stop)
    (hive-shared-test-post "meanwhile")
    (hive-sidecar-start)
    (hive-shared-test-wait-for "meanwhile")
    (should (equal (hive-shared-test-bodies) '("before" "meanwhile")))
    (should (equal (hive-shared-draft) "my draft"))))

(ert-deftest hive-shared/a-message-that-waited-for-the-sidecar-says-so-once-it-is-posted ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (let ((said nil))
      (cl-letf (((symbol-function 'hive-notify-say)
                 (lambda (format &rest args) (push (apply #'format format args) said))))
        (hive-post-send "at once" :place hive-shared-place)
        (hive-test-wait 10 (null hive-outbox--entries))
        (hive-sidecar-stop)
        (hive-post-send "from the train" :place hive-shared-place)
        (hive-sidecar-start)
        (hive-test-wait 10 (member "Posted what waited for the sidecar: from the train" said))
        (should (= 1 (cl-count-if (lambda (text) (string-prefix-p "Posted" text)) said)))))))

(ert-deftest hive-shared/messages-that-could-not-be-fetched-are-fetched-again ()
  (hive-shared-test-with
    (hive-shared-test-post "once")
    (let ((hive-rpc--again-seconds 0.01)
          (request (symbol-function 'hive-rpc-request))
          (failures 0))
      (cl-letf (((symbol-function 'hive-rpc-request)
                 (lambda (method params &rest keys)
                   (if (not (and (eq method 'message/list) (< failures 2)))
                       (apply request method params keys)
                     (setq failures (1+ failures))
                     (funcall (plist-get keys :error)
                              (list :code (alist-get 'transient hive-rpc-codes) :text "the store is busy"))))))
        (hive-shared-test-open)
        (hive-test-wait 5 (equal '("once") (hive-shared-test-bodies)))
        (should (= 2 failures))))))

(ert-deftest hive-shared/a-gap-reloads-the-buffer ()
  (hive-shared-test-with
    (let ((hive-shared-limit 10))
      (hive-shared-test-post "before")
      (hive-shared-test-open)
      (goto-char (point-max))
      (hive-sidecar-stop)
      (dotimes (n 25) (hive-shared-test-post (format "meanwhile %d" n)))
      (hive-sidecar-start)
      (hive-shared-test-wait-for "meanwhile 24")
      (should (equal (hive-shared-test-bodies)
                     (mapcar (lambda (n) (format "meanwhile %d" n))
                             (number-sequence 15 24))))
      (should hive-shared-earlier))))

;;;; The introduction

(ert-deftest hive-shared/begins-with-how-to-mention-which-is-no-message-and-cannot-be-typed-over ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (should (string-prefix-p hive-format-introduction (buffer-string)))
    (dolist (name '("@Claude-abc12" "@reviewer" "@All" "@Human"))
      (should (string-search name hive-format-introduction)))
    (should (equal (hive-shared-draft) ""))
    (should (zerop (hive-shared-count)))
    (goto-char 5)
    (should-error (insert "x") :type 'text-read-only)
    (should-error (hive-shared--demand) :type 'user-error)
    ;; Nor is it a mention of you that a key leads to.
    (goto-char (point-min))
    (should-error (hive-shared-next-mention) :type 'user-error)))

(ert-deftest hive-shared/the-introduction-stays-above-all-pages-once ()
  (hive-shared-test-with
    (let ((hive-shared-limit 3))
      (dotimes (n 8) (hive-shared-test-post (format "m%d" n)))
      (hive-shared-test-open)
      (should (equal (hive-shared-test-bodies) '("m5" "m6" "m7")))
      (should (string-prefix-p (concat hive-format-introduction "\n[Earlier messages]\n\n## ")
                               (buffer-string)))
      (dotimes (_ 3)
        (when hive-shared-earlier
          (hive-shared-page-back)
          (hive-shared-test-ready)))
      (hive-shared-refresh)
      (hive-shared-test-ready)
      (should (string-prefix-p (concat hive-format-introduction "\n") (buffer-string)))
      (goto-char (point-min))
      (should (search-forward hive-format-introduction nil t))
      (should-not (search-forward hive-format-introduction nil t)))))

(ert-deftest hive-shared/a-copy-of-the-whole-buffer-that-is-posted-mentions-nobody-by-its-introduction ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (let ((copy (filter-buffer-substring (point-min) (hive-shared-end))))
      (goto-char (point-max))
      (insert copy)
      (hive-shared-post))
    (hive-test-wait 10 (= 1 (hive-shared-count)))
    (should-not (hive-shared-test-do "mentions" :session "Claude-def34"))
    (should (= 0 (hive-mentions-count)))))

;;;; News and sessions

(defun hive-shared-test-news ()
  "Return the lines above what is new."
  (delq nil (mapcar (lambda (overlay)
                      (and (overlay-get overlay 'hive-news)
                           (cons (overlay-get overlay 'before-string)
                                 (plist-get (hive-shared-message-at (overlay-start overlay)) :body))))
                    (overlays-in (point-min) (point-max)))))

(ert-deftest hive-shared/a-line-is-above-what-was-posted-since-i-looked ()
  (hive-shared-test-with
    (save-window-excursion
      (delete-other-windows)
      (hive-shared-test-post "first")
      (hive-shared-test-post "second")
      (hive-test-wait 5 (= 2 (hive-shared-unread-count)))
      (hive-shared-test-open)
      (set-window-buffer (selected-window) (current-buffer))
      (hive-shared--resized (selected-window))
      (pcase-let ((`((,line . ,body)) (hive-shared-test-news)))
        (should (string-match-p "\\`-+ 2 messages new since [0-9][0-9]:[0-9][0-9] -+\n" line))
        (should (equal "first" body)))
      (should (string-search "   2 new" (hive-shared--header)))
      (should (= 0 (hive-shared-unread-count)))
      ;; A message that arrives while it is shown is not new; the line stays.
      (hive-shared-test-post "third")
      (hive-shared-test-wait-for "third")
      (should (equal '("first") (mapcar #'cdr (hive-shared-test-news))))
      ;; After a look at something else, it is above what came meanwhile.
      (let ((shared (current-buffer)))
        (set-window-buffer (selected-window) (get-buffer-create "*scratch*"))
        (hive-shared-test-post "fourth")
        (hive-shared-test-wait-for "fourth")
        (set-window-buffer (selected-window) shared))
      (hive-shared--resized (selected-window))
      (should (equal '("fourth") (mapcar #'cdr (hive-shared-test-news))))
      ;; It is no text, and goes when I write.
      (should-not (string-search "new since" (buffer-string)))
      (goto-char (point-max))
      (insert "read it")
      (hive-shared-post)
      (should-not (hive-shared-test-news))
      (should-not (string-search " new" (hive-shared--header))))))

(ert-deftest hive-shared/a-message-in-a-frame-that-its-terminal-does-not-show-is-unread ()
  (hive-shared-test-with
    (save-window-excursion
      (delete-other-windows)
      (hive-shared-test-open)
      (set-window-buffer (selected-window) (current-buffer))
      (cl-letf (((symbol-function 'tty-top-frame) (lambda (&rest _) 'another-frame)))
        (hive-shared-test-post "first")
        (hive-shared-test-wait-for "first")
        (hive-shared--resized (selected-window))
        (should (= 1 (hive-shared-unread-count))))
      (run-hook-with-args 'window-selection-change-functions (selected-frame))
      (should (= 0 (hive-shared-unread-count)))
      (should (equal '("first") (mapcar #'cdr (hive-shared-test-news)))))))

(defun hive-shared-test-turn-on ()
  "Turn Hive on, and wait until it knows what is unread."
  (hive-test-connect)
  (hive-test-wait 5 hive-shared--known))

(ert-deftest hive-shared/what-was-posted-while-emacs-did-not-run-is-unread ()
  (hive-shared-test-with
    (hive-test-wait 5 hive-shared--known)
    (hive-shared-test-do "join" :session_id "zzz99-session" :project "other"
                         :project_dir "/other/.git")
    (hive-shared-test-post "seen")
    (hive-test-wait 5 (= 1 (hive-shared-unread-count)))
    (save-window-excursion
      (delete-other-windows)
      (hive-shared-test-open)
      (set-window-buffer (selected-window) (current-buffer))
      (hive-shared--resized (selected-window)))
    (hive-shared-test-do "post" :from "Claude-zzz99" :body "in the other project")
    (hive-test-wait 5 (= 1 (hive-shared-unread-count)))
    (hive-mode -1)
    (should (= 0 (hive-shared-unread-count)))
    (hive-shared-test-post "first")
    (hive-shared-test-post "second")
    (hive-shared-test-turn-on)
    (should (= 3 (hive-shared-unread-count)))
    (should (equal '(2 "second") (let ((unread (gethash (expand-file-name ".git" project) hive-shared-unread)))
                                   (list (car unread) (plist-get (nth 1 unread) :body)))))
    ;; A second time it is the same, and what was seen is not unread again.
    (hive-mode -1)
    (hive-shared-test-turn-on)
    (should (= 3 (hive-shared-unread-count)))))

(ert-deftest hive-shared/on-the-first-day-nothing-is-unread ()
  (hive-shared-test-with
    (hive-test-wait 5 hive-shared--known)
    (hive-shared-test-post "from last week")
    (hive-test-wait 5 (= 1 (hive-shared-unread-count)))
    (hive-mode -1)
    (delete-file hive-shared-read-file)
    (hive-shared-test-turn-on)
    (should (= 0 (hive-shared-unread-count)))))

(ert-deftest hive-shared/a-damaged-file-of-what-was-read-stops-nothing ()
  (hive-shared-test-with
    (hive-test-wait 5 hive-shared--known)
    (dolist (damage (list "((\"store\" 3" "(1 . 2)" "\"text\"" "((nil nil))" "" "#<buffer x>" "((\"a\" -1))"
                      (format "((%S 1 2 \"x\"))" (plist-get hive-sidecar-info :store_id))))
      (hive-mode -1)
      (with-temp-file hive-shared-read-file (insert damage))
      (hive-shared-test-post "posted")
      (hive-shared-test-turn-on)
      (should (= 0 (hive-shared-unread-count))))
    (hive-shared--save)
    (should (= 1 (length (hive-shared--read-marks))))
    (should (= #o600 (file-modes hive-shared-read-file)))))

(ert-deftest hive-shared/what-is-posted-while-the-unread-are-fetched-counts-once ()
  (hive-shared-test-with
    (hive-test-wait 5 hive-shared--known)
    (hive-shared--save)
    (let ((request (symbol-function 'hive-rpc-request)) (fetch nil))
      (cl-letf (((symbol-function 'hive-rpc-request)
                 (lambda (&rest arguments)
                   (setq fetch (lambda () (apply request arguments))))))
        (hive-shared--catch-up-unread))
      ;; The notifications of these are here before the page that has them.
      (dotimes (n 3) (hive-shared-test-post (format "m%d" n)))
      (hive-test-wait 5 (= 3 (length (cdr (hive-rpc-fetching 'message/list)))))
      ;; And that of this one, which no page has.
      (let ((last (copy-sequence (cadr (hive-rpc-fetching 'message/list)))))
        (hive-shared--note-posted (plist-put last :seq (1+ (plist-get last :seq)))))
      (funcall fetch)
      (hive-test-wait 5 (not (hive-rpc-fetching 'message/list)))
      (should (= 4 (hive-shared-unread-count))))))

(ert-deftest hive-shared/the-mode-line-counts-unread-messages-if-asked ()
  (hive-shared-test-with
    (hive-shared-test-post "first")
    (hive-test-wait 5 (= 1 (hive-shared-unread-count)))
    (should-not (hive-mode-line--text))
    (let ((hive-indicator '(mode-line unread)))
      (should (equal " hive 1 new" (substring-no-properties (hive-mode-line--text)))))))

(ert-deftest hive-shared/the-header-says-who-is-here-and-who-is-held ()
  (hive-shared-test-with
    (save-window-excursion
      (hive-shared-test-open)
      (set-window-buffer (selected-window) (current-buffer))
      (should (string-match-p "   here: demo\\(, demo 2\\| 2, demo\\)\\'" (hive-shared--header)))
      (hive-shared-test-post "@Claude-def34 hold on")
      (hive-test-wait 5 (progn (hive-test-run-timers 1)
                               (string-match-p "   here: demo 2 (held), demo\\'" (hive-shared--header))))
      (hive-test-call 'session/configure '(:session_id "Claude-def34" :gate "remind"))
      (hive-test-wait 5 (string-match-p "   here: [^(]+\\'" (hive-shared--header))))))

;;;; Mentions of you

(ert-deftest hive-shared/a-mention-of-you-is-highlighted-until-it-is-processed ()
  (hive-shared-test-with
    (hive-shared-test-post "one")
    (hive-shared-test-post "`@Human` in code\n> @Human quoted\nbut @human here")
    (hive-shared-test-post "three")
    (hive-shared-test-open)
    (hive-test-wait 5 (= 1 (hive-mentions-count)))
    (cl-flet ((note ()
                (mapconcat (lambda (overlay) (or (overlay-get overlay 'after-string) ""))
                           (overlays-in (point-min) (point-max)) "")))
      (hive-test-wait 5 (string-search "[reply]" (note)))
      (goto-char (point-min))
      (hive-shared-next-mention)
      (should (looking-at "@human here"))
      (should (eq 'hive-shared-mention-human (get-text-property (point) 'font-lock-face)))
      (should-error (hive-shared-next-mention) :type 'user-error)
      (goto-char (point-max))
      (hive-shared-previous-mention)
      (should (looking-at "@human here"))
      (hive-shared-done "looked at it")
      (hive-test-wait 5 (= 0 (hive-mentions-count)))
      (should-not (string-search "[reply]" (note)))
      (let ((mention (car (hive-shared-test-do "mentions"))))
        (should (equal "processed" (plist-get mention :status)))
        (should (equal "Ada" (plist-get mention :processed_by)))
        (should (equal "looked at it" (plist-get mention :note)))))))

(ert-deftest hive-shared/an-answer-processes-the-mention ()
  (hive-shared-test-with
    (let ((asked (hive-shared-test-post "@Human which one?" :expects_reply t)))
      (hive-shared-test-open)
      (hive-test-wait 5 (= 1 (hive-mentions-count)))
      (goto-char (hive-shared-top))
      (hive-shared-reply)
      (should (equal (hive-shared-draft) "@Claude-abc12 "))
      (should (string-search "replying to demo: @Human which one?" (hive-shared--header)))
      (insert "the second")
      (hive-shared-post)
      (hive-shared-test-wait-for "@Claude-abc12 the second")
      (should (equal (plist-get asked :message_id) (plist-get (hive-shared-last) :reply_to)))
      (should-not hive-shared-reply-to)
      (hive-test-wait 5 (= 0 (hive-mentions-count)))
      (should (equal '("unprocessed")
                     (mapcar (lambda (mention) (plist-get mention :status))
                             (hive-shared-test-do "mentions" :session "Claude-abc12")))))))

(ert-deftest hive-shared/a-template-goes-into-the-draft ()
  (hive-shared-test-with
    (let ((hive-reply-templates '(("mention" "demo" "Thanks, merged.")))
          (said nil))
      (hive-shared-test-post "@Human done?")
      (hive-shared-test-open)
      (hive-test-wait 5 (= 1 (hive-mentions-count)))
      (goto-char (hive-shared-top))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest args) (push (apply #'format format args) said))))
        (hive-shared-reply))
      (should (string-match-p "C-c C-y inserts a template" (car said)))
      ;; From anywhere, point moves to the draft.
      (goto-char (hive-shared-top))
      (should (equal '("Thanks, merged.")
                     (cdar (hive-test-with-inputs (list "Thanks, merged.")
                             (call-interactively #'hive-shared-insert-template)))))
      (should (equal (hive-shared-draft) "@Claude-abc12 Thanks, merged."))
      (hive-shared-post)
      (hive-test-wait 10 (= 0 (hive-mentions-count))))))

;;;; Bodies

(ert-deftest hive-shared/a-name-that-nobody-has-does-not-look-like-a-mention ()
  (hive-shared-test-with
    (hive-shared-test-post "@Claude-def34 @demo-2 @Claude-zzz99 @All @override")
    (hive-shared-test-open)
    (cl-flet ((face (name)
                (goto-char (hive-shared-top))
                (search-forward (concat "@" name))
                (get-text-property (1- (point)) 'font-lock-face)))
      (dolist (name '("Claude-def34" "demo-2" "All"))
        (should (eq 'hive-shared-mention (face name))))
      (dolist (name '("Claude-zzz99" "override"))
        (should (eq 'hive-shared-mention-nobody (face name))))
      ;; Once there is somebody of that name, it does.
      (hive-shared-test-do "join" :session_id "zzz99-session")
      (hive-test-wait 5 (eq 'hive-shared-mention (face "Claude-zzz99")))
      (should (eq 'hive-shared-mention-nobody (face "override")))
      ;; One who has ended was really mentioned.
      (hive-shared-test-do "end" :from "Claude-zzz99")
      (hive-test-wait 5 (not (member "Claude-zzz99" (hive-model-known-handles))))
      (should (eq 'hive-shared-mention (face "Claude-zzz99"))))))

(ert-deftest hive-shared/bodies-have-our-faces-for-markdown-and-stay-as-they-are ()
  (hive-shared-test-with
    (let ((body "# Plan\n\nrun `make @All`\n\n| a | b |\n|---|:--|\n| long cell | x |\n\n```sh\nmake @All\n```\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new"))
      (hive-shared-test-post body)
      (hive-shared-test-open)
      (font-lock-ensure)
      (should (equal (list body) (hive-shared-test-bodies)))
      (cl-flet ((face (text)
                  (goto-char (hive-shared-top))
                  (search-forward text)
                  (get-text-property (1- (point)) 'font-lock-face)))
        (should (eq 'hive-prompt-heading (face "Plan")))
        (should (eq 'hive-prompt-code (face "make @All")))
        (should (eq 'hive-prompt-code (face "sh\nmake @All")))
        (should (eq 'diff-added (face "+new"))))
      ;; A copy of it is plain text.
      (should-not (text-properties-at 0 (filter-buffer-substring (1- (point)) (point)))))))

(ert-deftest hive-shared/addresses-are-buttons ()
  (hive-shared-test-with
    (hive-shared-test-post "See https://example.org/log and [example.org](https://evil.example/).")
    (hive-shared-test-open)
    (goto-char (hive-shared-top))
    (search-forward "https://exam")
    (let ((asked nil) (visited nil))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (prompt) (push prompt asked) t))
                ((symbol-function 'browse-url) (lambda (address &rest _) (push address visited))))
        (push-button))
      (should (string-search "example.org" (car asked)))
      (should (equal visited '("https://example.org/log"))))
    (search-forward "[exam")
    (should (cl-some (lambda (overlay) (string-search "evil.example" (or (overlay-get overlay 'after-string) "")))
                     (overlays-in (point) (point-max))))
    (should-not (buffer-modified-p))))

(ert-deftest hive-shared/a-reply-shows-what-it-answers ()
  (hive-shared-test-with
    (let ((first (hive-shared-test-post "Which database do we take?")))
      (dotimes (n 3) (hive-shared-test-post (format "m%d" n)))
      (hive-shared-test-do "post" :from "Claude-def34" :body "SQLite" :reply_to (plist-get first :message_id))
      (cl-flet ((notes ()
                  (mapconcat (lambda (overlay) (or (overlay-get overlay 'after-string) ""))
                             (overlays-in (point-min) (point-max)) "")))
        (let ((hive-shared-limit 3))
          (hive-shared-test-open)
          (should (string-search "(demo 2, reply)" (notes)))
          (hive-shared-page-back)
          (hive-shared-test-ready)
          (should (string-search "(demo 2, reply to demo: Which database do we take?)" (notes))))))))

(ert-deftest hive-shared/threads-are-completed-with-what-they-are-about ()
  (hive-shared-test-with
    (let ((first (hive-shared-test-post "Which database do we take?")))
      (hive-shared-test-post "alone")
      (hive-shared-test-post "What is left to do?" :thread "release")
      (hive-shared-test-do "post" :from "Claude-def34" :body "SQLite" :reply_to (plist-get first :message_id))
      (hive-shared-test-open)
      (let* ((threads (hive-shared--threads))
             (notes (mapcar (lambda (thread) (hive-shared--thread-annotation (cdr thread))) threads)))
        (should (equal '("Which database do we take?" "release") (mapcar #'car threads)))
        (should (string-match-p "\\`  2 messages, the last by demo 2 [0-9]+s ago\\'" (car notes)))
        (should (string-match-p "\\`  1 message, the last by demo [0-9]+s ago: What is left to do\\?\\'"
                                (cadr notes))))
      (let ((here (current-buffer)) (current-prefix-arg '(4)))
        (hive-test-with-inputs '("Which database do we take?")
          (call-interactively #'hive-shared-open-thread))
        (should (equal hive-shared-thread (plist-get first :message_id)))
        ;; It is called like its first message, and not by an id.
        (hive-shared-test-ready)
        (should (equal "*hive-shared: demo/Which database do we take?*" (buffer-name)))
        (should-not (string-search "in thread" (hive-shared--header)))
        (with-current-buffer here
          (hive-test-with-inputs '("a new topic")
            (call-interactively #'hive-shared-open-thread)))
        (should (equal (buffer-local-value 'hive-shared-thread (window-buffer)) "a new topic"))))))

;;;; Saving

(ert-deftest hive-shared/the-keys-that-save-a-file-save-messages-and-no-file-takes-the-buffer ()
  (hive-shared-test-with
    (hive-shared-test-post "one")
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert "a draft")
    (let ((file (expand-file-name "habit.md" hive-test-temp)) (name (buffer-name)))
      (dolist (way (list (lambda () (call-interactively (key-binding (kbd "C-x C-s"))))
                         (lambda () (call-interactively (key-binding (kbd "C-x C-w"))))
                         (lambda () (call-interactively #'save-buffer))
                         (lambda () (save-buffer))))
        (cl-letf (((symbol-function 'read-file-name) (lambda (&rest _) file)))
          (funcall way))
        (should (equal '("one") (mapcar (lambda (block) (plist-get block :body))
                                        (hive-format-parse (with-temp-buffer (insert-file-contents file)
                                                                             (buffer-string))))))
        (delete-file file)
        (should-not buffer-file-name)
        (should (equal name (buffer-name)))
        (should (derived-mode-p 'hive-shared-mode))
        (should (equal "a draft" (hive-shared-draft))))
      (write-file file)
      (should-not buffer-file-name)
      (should (equal name (buffer-name))))
    (hive-shared-discard)))

(ert-deftest hive-shared/is-saved-in-the-seeds-format ()
  (hive-shared-test-with
    (hive-shared-test-post "one\n## 2026-01-11 18:00:00 Claude-abc12\ntwo")
    (hive-shared-test-post "three")
    (hive-shared-test-open)
    (goto-char (hive-shared-top))
    (delete-region (point) (line-end-position)) ; it is the store's that is saved
    (let ((file (expand-file-name "saved.md" hive-test-temp)))
      (hive-shared-save file)
      (let ((text (with-temp-buffer (insert-file-contents file) (buffer-string))))
        (should (string-match (concat "\\`---\nhive: true\ntype: shared\ncreated_at: "
                                      "[-0-9]\\{10\\}T[0-9:]\\{8\\}\nproject: demo\n---\n\n"
                                      "# Shared Buffer\n\nAgents and .*:\n`@Claude-abc12` .*"
                                      "`@reviewer` .*\n`@All` .*`@Human` .*\n\n## ")
                              text))
        (should (equal (mapcar (lambda (block) (plist-get block :body)) (hive-format-parse text))
                       '("one\n## 2026-01-11 18:00:00 Claude-abc12\ntwo" "three")))))))
